"""A client over HTTPS as tests of transfers need it: pyVmomi, bare requests, and an OVF to import."""

from __future__ import annotations

import base64
import contextlib
import http.client
import json
import ssl
import time

import pytest
from pyVim.connect import Disconnect, SmartConnect

from vsphere_twin.launch import launch


class Client:
    """A user of a twin that serves."""

    def __init__(self, twin):
        self.twin = twin
        self._tls = ssl.create_default_context(cafile=str(twin.ca_file))
        self.service = SmartConnect(
            host="localhost", port=twin.port, user=twin.username, pwd=twin.password, sslContext=self._tls
        )
        self.content = self.service.RetrieveContent()
        self.cookie = self.service._stub.cookie
        self._token = None

    def all(self, kind, name):
        """The objects of this kind and name."""
        view = self.content.viewManager.CreateContainerView(self.content.rootFolder, [kind], True)
        try:
            return [one for one in view.view if one.name == name]
        finally:
            view.Destroy()

    def find(self, kind, name):
        """The object of this kind and name."""
        (found,) = self.all(kind, name)
        return found

    def done(self, task):
        """Wait for the end of a task; its result."""
        while task.info.state in ("queued", "running"):
            time.sleep(0.01)
        assert task.info.state == "success", task.info.error
        return task.info.result

    def fails(self, work, fault):
        """Require that a task ends with a fault."""
        task = work()
        while task.info.state in ("queued", "running"):
            time.sleep(0.01)
        with pytest.raises(fault):
            raise task.info.error

    def ask(self, verb, path, body=None, headers=None):
        """One request over a connection of its own: status and body; None where the server hangs up."""
        connection = http.client.HTTPSConnection("localhost", self.twin.port, context=self._tls, timeout=20)
        try:
            connection.request(verb, path, body, headers or {})
            if body is not None and int((headers or {}).get("Content-Length", 0)) > len(body):
                return None  # the client goes away in the middle of its upload
            answer = connection.getresponse()
            return answer.status, answer.read()
        finally:
            connection.close()

    def rest(self, verb, path, body=None):
        """One request to the REST API: status and value."""
        if self._token is None:
            secret = base64.b64encode(f"{self.twin.username}:{self.twin.password}".encode()).decode()
            answer = self.ask("POST", "/api/session", headers={"Authorization": f"Basic {secret}"})
            self._token = json.loads(answer[1])
        headers = {"vmware-api-session-id": self._token, "Content-Type": "application/json"}
        data = None if body is None else json.dumps(body).encode()
        status, text = self.ask(verb, f"/api/{path}", data, headers)
        return status, json.loads(text or b"null")


@contextlib.contextmanager
def connected(seed="small"):
    """A twin with a client of it."""
    with launch(seed=seed) as twin:
        client = Client(twin)
        try:
            yield client
        finally:
            Disconnect(client.service)


def ovf_text(capacity="2", units="byte * 2^30", image="", size=0):
    """An appliance with a disk, an adapter, a property, a licence and two sizes."""
    file = f'<File ovf:id="image" ovf:href="{image}"/>' if image else ""
    drive = (
        "<Item><rasd:AddressOnParent>0</rasd:AddressOnParent><rasd:HostResource>ovf:/file/image</rasd:HostResource>"
        "<rasd:InstanceID>5</rasd:InstanceID><rasd:Parent>4</rasd:Parent><rasd:ResourceType>15</rasd:ResourceType></Item>"
    )
    return f"""<?xml version="1.0" encoding="UTF-8"?>
<Envelope xmlns="http://schemas.dmtf.org/ovf/envelope/1" xmlns:ovf="http://schemas.dmtf.org/ovf/envelope/1"
  xmlns:rasd="http://schemas.dmtf.org/wbem/wscim/1/cim-schema/2/CIM_ResourceAllocationSettingData"
  xmlns:vssd="http://schemas.dmtf.org/wbem/wscim/1/cim-schema/2/CIM_VirtualSystemSettingData"
  xmlns:vmw="http://www.vmware.com/schema/ovf">
<References><File ovf:id="file1" ovf:href="disk.vmdk" ovf:size="{size}"/>{file}</References>
<DiskSection><Info>Disks</Info>
  <Disk ovf:diskId="vmdisk1" ovf:capacity="{capacity}" ovf:capacityAllocationUnits="{units}" ovf:fileRef="file1"/>
</DiskSection>
<NetworkSection><Info>Networks</Info>
  <Network ovf:name="net"><Description>A network</Description></Network></NetworkSection>
<DeploymentOptionSection><Info>Sizes</Info>
  <Configuration ovf:id="small" ovf:default="true"><Label>Small</Label><Description>2 vCPUs</Description>
  </Configuration>
  <Configuration ovf:id="large"><Label>Large</Label><Description>8 vCPUs</Description></Configuration>
</DeploymentOptionSection>
<VirtualSystem ovf:id="appliance"><Info>A VM</Info><Name>appliance</Name>
<AnnotationSection><Info>Notes</Info><Annotation>A note</Annotation></AnnotationSection>
<EulaSection><Info>Licence</Info><License>Agree.</License></EulaSection>
<ProductSection ovf:class="net"><Info>Product</Info><Product>Appliance</Product><Version>1.0</Version>
  <Property ovf:key="hostname" ovf:type="string" ovf:value="localhost" ovf:userConfigurable="true">
    <Label>Name</Label></Property>
</ProductSection>
<OperatingSystemSection ovf:id="94" vmw:osType="ubuntu64Guest"><Info>Guest</Info></OperatingSystemSection>
<VirtualHardwareSection ovf:transport="com.vmware.guestInfo"><Info>Hardware</Info>
<System><vssd:InstanceID>0</vssd:InstanceID><vssd:VirtualSystemType>vmx-19</vssd:VirtualSystemType></System>
<Item ovf:configuration="small"><rasd:InstanceID>1</rasd:InstanceID><rasd:ResourceType>3</rasd:ResourceType>
  <rasd:VirtualQuantity>2</rasd:VirtualQuantity></Item>
<Item ovf:configuration="large"><rasd:InstanceID>1</rasd:InstanceID><rasd:ResourceType>3</rasd:ResourceType>
  <rasd:VirtualQuantity>8</rasd:VirtualQuantity></Item>
<Item><rasd:AllocationUnits>byte * 2^20</rasd:AllocationUnits><rasd:InstanceID>2</rasd:InstanceID>
  <rasd:ResourceType>4</rasd:ResourceType><rasd:VirtualQuantity>2048</rasd:VirtualQuantity></Item>
<Item><rasd:Address>0</rasd:Address><rasd:InstanceID>3</rasd:InstanceID>
  <rasd:ResourceSubType>VirtualSCSI</rasd:ResourceSubType><rasd:ResourceType>6</rasd:ResourceType></Item>
<Item><rasd:Address>0</rasd:Address><rasd:InstanceID>4</rasd:InstanceID><rasd:ResourceType>5</rasd:ResourceType></Item>
<Item><rasd:AddressOnParent>0</rasd:AddressOnParent><rasd:HostResource>ovf:/disk/vmdisk1</rasd:HostResource>
  <rasd:InstanceID>6</rasd:InstanceID><rasd:Parent>3</rasd:Parent><rasd:ResourceType>17</rasd:ResourceType></Item>
{drive if image else ""}
<Item><rasd:AutomaticAllocation>true</rasd:AutomaticAllocation><rasd:Connection>net</rasd:Connection>
  <rasd:ElementName>Network adapter 1</rasd:ElementName><rasd:InstanceID>7</rasd:InstanceID>
  <rasd:ResourceSubType>VmxNet3</rasd:ResourceSubType><rasd:ResourceType>10</rasd:ResourceType></Item>
<vmw:Config ovf:required="false" vmw:key="firmware" vmw:value="efi"/>
</VirtualHardwareSection></VirtualSystem></Envelope>
"""
