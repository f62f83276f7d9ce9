# SPDX-License-Identifier: BSD-3-Clause
"""A decoder of Perfetto's traces, written from its published .proto files: trace.proto, trace_packet.proto,
track_descriptor.proto, counter_descriptor.proto, track_event.proto. A field that is not listed here is an error."""
import dataclasses
import struct

VARINT, FIXED64, BYTES = 0, 1, 2
TEXT, DOUBLE = "text", "double"
COUNTER = {6: ("unit_name", TEXT)}
TRACK = {1: ("uuid", int), 2: ("name", TEXT), 5: ("parent_uuid", int), 8: ("counter", COUNTER)}
EVENT = {9: ("type", int), 10: ("name_iid", int), 11: ("track_uuid", int), 23: ("name", TEXT), 44: ("double_counter_value", DOUBLE)}
NAME = {1: ("iid", int), 2: ("name", TEXT)}
PACKET = {8: ("timestamp", int), 10: ("trusted_packet_sequence_id", int), 11: ("track_event", EVENT),
          12: ("interned_data", {2: ("event_name", NAME)}), 13: ("sequence_flags", int), 60: ("track_descriptor", TRACK)}
SLICE_BEGIN, SLICE_END, COUNTED = 1, 2, 4
CLEARED, NEEDED = 1, 2


def number(data, at):
    value = shift = 0
    while True:
        value |= (data[at] & 0x7f) << shift
        shift += 7
        at += 1
        if not data[at - 1] & 0x80:
            return value, at


def fields(data):
    """(field, wire type, value)"""
    at = 0
    while at < len(data):
        key, at = number(data, at)
        if key & 7 == VARINT:
            value, at = number(data, at)
        elif key & 7 == FIXED64:
            value, at = data[at:at + 8], at + 8
        elif key & 7 == BYTES:
            size, at = number(data, at)
            value, at = data[at:at + size], at + size
            assert len(value) == size, "a field that is cut"
        else:
            raise AssertionError(f"wire type {key & 7}")
        yield key >> 3, key & 7, value


def decode(data, message):
    found = {}
    for field, wire, value in fields(data):
        name, kind = message[field]
        assert wire == (VARINT if kind is int else FIXED64 if kind == DOUBLE else BYTES), f"wire type {wire} of {name}"
        if kind == TEXT:
            value = value.decode()
        elif kind == DOUBLE:
            value = struct.unpack("<d", value)[0]
        elif kind is not int:
            value = decode(value, kind)
        found[name] = value
    return found


@dataclasses.dataclass
class Track:
    name: str
    parent: int
    unit: str
    values: list  # (ns, value) of a counter
    slices: list  # (begin ns, end ns, name)


def read(path):
    """{uuid: Track}, the greatest size of an event in bytes, and the last time."""
    tracks, opened, names, largest, last = {}, {}, {}, 0, 0
    for field, wire, packet in fields(path.read_bytes()):
        assert (field, wire) == (1, BYTES), "a trace has nothing but packets"
        said = decode(packet, PACKET)
        if "track_descriptor" in said:
            track = said["track_descriptor"]
            assert track["uuid"] not in tracks and track.get("parent_uuid", 0) in (0, *tracks), track
            tracks[track["uuid"]] = Track(track["name"], track.get("parent_uuid", 0),
                                          track.get("counter", {}).get("unit_name", ""), [], [])
            continue
        if "track_event" not in said:
            assert said["sequence_flags"] == (NEEDED if "interned_data" in said else CLEARED), said
            name = said.get("interned_data", {}).get("event_name")
            names.update({name["iid"]: name["name"]} if name else {})
            continue
        event, now = said["track_event"], said["timestamp"]
        track = tracks[event["track_uuid"]]
        if "name" not in event:
            largest = max(largest, len(packet) + 2)
        if event["type"] == COUNTED:
            track.values.append((now, event["double_counter_value"]))
        elif event["type"] == SLICE_BEGIN:
            opened.setdefault(event["track_uuid"], []).append((now, event.get("name") or names[event["name_iid"]]))
        else:
            begun, name = opened[event["track_uuid"]].pop()
            track.slices.append((begun, now, name))
        last = max(last, now)
    assert not any(opened.values()), f"slices without an end: {opened}"
    return tracks, largest, last
