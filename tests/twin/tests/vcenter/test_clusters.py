"""Clusters over the protocol."""

from __future__ import annotations


def test_drs_has_no_recommendation_after_a_refresh(client, world):
    cluster = client.reference(world.of_kind("ClusterComputeResource")[0])
    cluster.RefreshRecommendation()
    assert list(cluster.recommendation) == []
