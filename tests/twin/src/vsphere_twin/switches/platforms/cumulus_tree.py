"""Configuration as NVUE holds it: a tree, changed by words or by documents, and written as YAML, JSON or commands."""

from __future__ import annotations

import copy
import re

import yaml

from .cumulus_schema import Each, Invalid
from .linux_text import natural


def resolve(schema, words):
    """Resolve the words of nv set or unset: [(path, value or None if no leaf was reached)].

    Leaves of one object may follow one another in one command.
    """
    paths, node, said, words, found = [()], schema, list(words), list(words), []
    while words:
        word = words.pop(0)
        if isinstance(node, dict):
            key = _keyword(node, word, said)
            holder, above, node = paths, node, node[key]
            paths = [(*path, key) for path in paths]
        else:
            keys = _reading(node.keys, word, paths[0])
            paths, node = [(*path, key) for path in paths for key in keys], node.node
        if not isinstance(node, dict | Each) and words:
            value = _reading(node.read, words.pop(0), paths[0])
            found += [(path, value) for path in paths]
            if not words:
                return found
            paths, node = holder, above
    return [*found, *((path, None) for path in paths)]


def set_words(tree, schema, words):
    """nv set: return the tree with the words' values."""
    found = resolve(schema, words)
    for path, value in found:
        if value is None and (not words or not isinstance(_node(schema, path), dict)):
            raise Invalid(f"Incomplete Command: {' '.join(['set', *words])}")
    for path, value in found:
        put(tree, path, {} if value is None else value)


def unset_words(tree, schema, words):
    """nv unset: return the tree without the named nodes; a missing node is no error."""
    if not words:
        raise Invalid("Incomplete Command: unset")
    for path, _value in resolve(schema, words):
        remove(tree, path)


def _node(schema, path):
    for key in path:
        schema = schema[key] if isinstance(schema, dict) else schema.node
    return schema


def put(tree, path, value):
    """Set a value, or create an object that keeps its content."""
    for key in path[:-1]:
        tree = tree.setdefault(key, {})
    if value == {}:
        tree.setdefault(path[-1], {})
    elif isinstance(tree.get(path[-1]), dict) and isinstance(value, dict):
        tree[path[-1]].update(value)
    else:
        tree[path[-1]] = value


def remove(tree, path):
    """Take a path out, and the objects that are empty for it; instances such as interfaces stay."""
    parents = [tree]
    for key in path[:-1]:
        if not isinstance(parents[-1].get(key), dict):
            return
        parents.append(parents[-1][key])
    parents[-1].pop(path[-1], None)
    for depth in range(len(path) - 1, 0, -1):
        instance = (path[0] == "interface" and depth == 2) or (depth > 1 and path[depth - 2] == "domain")
        if parents[depth] or instance:
            return
        parents[depth - 1].pop(path[depth - 1])


def lookup(tree, path, default=None):
    """Return the value at a path."""
    for key in path:
        if not isinstance(tree, dict) or key not in tree:
            return default
        tree = tree[key]
    return tree


def leaves(tree, path=()):
    """(path, value) of all leaves and empty objects, in the order of nv."""
    if not isinstance(tree, dict) or (not tree and path):
        yield path, tree
        return
    for key in sorted(tree, key=natural):
        yield from leaves(tree[key], (*path, key))


def diff(before, after):
    """Return (unset, set) to get from one tree to the other; unset paths end in None."""
    gone, new = {}, {}
    for key in sorted({*before, *after}, key=natural):
        if key not in after:
            gone[key] = None
        elif key not in before:
            new[key] = copy.deepcopy(after[key])
        elif isinstance(before[key], dict) and isinstance(after[key], dict):
            lost, found = diff(before[key], after[key])
            gone |= {key: lost} if lost else {}
            new |= {key: found} if found else {}
        elif before[key] != after[key]:
            new[key] = copy.deepcopy(after[key])
    return gone, new


def patched(tree, gone, new):
    """A copy of the tree with a difference worked in."""
    tree = copy.deepcopy(tree)
    for path, _none in leaves(gone):
        if path:
            remove(tree, path)
    _merge(tree, new)
    return tree


def _merge(tree, new):
    for key, value in new.items():
        if isinstance(value, dict) and isinstance(tree.get(key), dict):
            _merge(tree[key], value)
        else:
            tree[key] = copy.deepcopy(value)


def read_document(schema, text):
    """A file of nv config patch or replace, YAML or commands: [("set" or "unset", tree)]."""
    lines = [line.strip() for line in text.splitlines() if line.strip() and not line.strip().startswith("#")]
    if lines and all(line.startswith(("nv set", "nv unset")) for line in lines):
        return _read_commands(schema, text)
    try:
        # Every scalar stays a text, so that `on` is no boolean; the schema reads it.
        document = yaml.load(text, Loader=yaml.BaseLoader)  # noqa: S506
    except yaml.YAMLError as problem:
        raise Invalid(f"Unable to parse the file: {problem}") from None
    steps = []
    for part in document if isinstance(document, list) else [document]:
        if not isinstance(part, dict):
            raise Invalid("The document is not a list of set and unset.")
        for verb, tree in part.items():
            if verb in ("set", "unset"):
                steps.append((verb, _typed(schema, tree or {}, (), verb)))
            elif verb != "header":
                raise Invalid(f"Config invalid at root: '{verb}' was unexpected")
    return steps


def _read_commands(schema, text):
    steps = []
    for number, line in enumerate(text.splitlines(), 1):
        words = line.split()
        if not words or words[0].startswith("#"):
            continue
        tree = {}
        try:
            if words[1] == "set":
                set_words(tree, schema, words[2:])
            else:
                for path, _value in resolve(schema, words[2:]):
                    put(tree, path, None)
        except Invalid as problem:
            raise Invalid(f"Line {number}: {line.strip()}: {problem}") from None
        steps.append((words[1], tree))
    return steps


def apply_steps(tree, steps):
    """A copy of the tree after the steps of a document."""
    for verb, part in steps:
        tree = patched(tree, {}, part) if verb == "set" else patched(tree, part, {})
    return tree


def _typed(node, value, path, verb):
    """A document's part with values as the schema has them."""
    if value in (None, "") and verb == "unset":
        return None
    if isinstance(node, dict | Each):
        if value == "":
            value = {}
        if not isinstance(value, dict):
            raise Invalid(f"Config invalid at {'.'.join(path)}: '{value}' is not of type 'object'")
        if not value and verb == "unset":
            return None
        if isinstance(node, dict):
            for key in value:
                if key not in node:
                    raise Invalid(f"Config invalid at {'.'.join(path) or 'root'}: '{key}' was unexpected")
            return {key: _typed(node[key], part, (*path, key), verb) for key, part in value.items()}
        return {
            key: _typed(node.node, part, (*path, key), verb)
            for word, part in value.items()
            for key in _reading(node.keys, word, path)
        }
    if isinstance(value, dict):
        if not value and verb == "unset":
            return None
        raise Invalid(f"Config invalid at {'.'.join(path)}: an object stands where a value is wanted")
    return _reading(node.read, str(value), path)


def _keyword(node, word, said):
    if word in node:
        return word
    found = [key for key in node if key.startswith(word)]
    if len(found) > 1:
        raise Invalid("Ambiguous Command:\n  " + "\n  ".join(sorted(found)))
    if not found:
        raise Invalid(f"Invalid Command: {' '.join(said)}")
    return found[0]


def _reading(read, text, path):
    try:
        return read(text)
    except Invalid as problem:
        raise Invalid(f"Config invalid at {'.'.join(path)}: {problem}") from None


class _Writer(yaml.SafeDumper):
    """YAML as nv writes it: on and off without quotes, nothing instead of null."""

    def ignore_aliases(self, data):
        return True


_Writer.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in found if tag != "tag:yaml.org,2002:bool"]
    for first, found in yaml.SafeDumper.yaml_implicit_resolvers.items()
}
_Writer.add_representer(type(None), lambda writer, _value: writer.represent_scalar("tag:yaml.org,2002:null", ""))


def as_yaml(document):
    """A document as text."""
    return yaml.dump(document, Dumper=_Writer, default_flow_style=False, sort_keys=False, width=1000)


def ordered(tree):
    """The tree with its keys in the order of nv."""
    if not isinstance(tree, dict):
        return tree
    return {key: ordered(tree[key]) for key in sorted(tree, key=natural)}


def commands(verb, tree):
    """nv set or unset lines of a tree; interfaces with the same setting share a line."""
    shared, lines = {}, []
    for path, value in leaves(tree):
        rest = [*map(str, path)] + ([] if value in ({}, None) else [_word(value)])
        if path[:1] == ("interface",) and len(path) > 1:
            shared.setdefault(tuple(rest[2:]), []).append(path[1])
        else:
            lines.append(rest)
    lines += [["interface", ranges(found), *rest] for rest, found in shared.items()]
    return [f"nv {verb} {' '.join(line)}" for line in lines]


def ranges(found):
    """swp1,swp2,swp3,eth0 as eth0,swp1-3."""
    runs = []
    for name in sorted(found, key=natural):
        match = re.fullmatch(r"(.*?)(\d+)", name)
        if match and runs and runs[-1][0] == match[1] and runs[-1][2] + 1 == int(match[2]):
            runs[-1][2] += 1
        else:
            runs.append([match[1], int(match[2]), int(match[2])] if match else [name, None, None])
    return ",".join(
        prefix if first is None else f"{prefix}{first}" if first == last else f"{prefix}{first}-{last}"
        for prefix, first, last in runs
    )


def _word(value):
    text = str(value)
    return f"'{text}'" if " " in text else text
