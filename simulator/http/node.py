"""What node_exporter says of a host: its NICs, and a few basics."""

from simulator.http.exposition import Exposition, labels
from simulator.world.world import World

_PACKET_BYTES = 4096.0
_IB = "node_infiniband_"


def node_text(world: World, host: int, *, stamp: str = "") -> str:
    """Return the scrape of one host."""
    body = Exposition(lines=[], stamp=stamp)
    names, fabric = world.names, world.fabric
    leaf = names.leaves[names.leaf_of(host)]
    nics = range(world.scenario.fabric.gpus_per_host)
    ports = [fabric.wiring.port_number[leaf, names.host_interface(host, n)] for n in nics]
    told = [labels({"device": names.nic(n), "port": "1"}) for n in nics]
    # The NIC sends what the leaf's port receives.
    sent = [float(int(fabric.counters["in_octets"][p])) for p in ports]
    received = [float(int(fabric.counters["out_octets"][p])) for p in ports]
    marked = [float(fabric.counters["ecn_marked"][p]) for p in ports]
    none = [0.0] * len(ports)
    for name, kind, text, values in (
        (
            "port_data_transmitted_bytes_total",
            "counter",
            "Number of data octets transmitted on all links",
            sent,
        ),
        (
            "port_data_received_bytes_total",
            "counter",
            "Number of data octets received on all links",
            received,
        ),
        (
            "port_packets_transmitted_total",
            "counter",
            "Number of packets transmitted on all VLs from this port (including errors)",
            [float(int(v / _PACKET_BYTES)) for v in sent],
        ),
        (
            "port_packets_received_total",
            "counter",
            "Number of packets received on all VLs by this port (including errors)",
            [float(int(v / _PACKET_BYTES)) for v in received],
        ),
        (
            "port_transmit_wait_total",
            "counter",
            "Number of ticks during which the port had data to transmit but no data was sent",
            none,
        ),
        ("np_cnp_sent_total", "counter", "Number of CNP packets sent (reaction to ECN)", marked),
        ("rp_cnp_handled_total", "counter", "Number of CNP packets handled", marked),
        ("out_of_sequence_total", "counter", "Number of packets out of sequence", none),
        ("link_downed_total", "counter", "Number of times the link went down", none),
        (
            "state_id",
            "gauge",
            "State of the InfiniBand port (0: no change, 1: down, 2: init, 3: armed, 4: active)",
            [4.0 if fabric.port_up()[p] else 1.0 for p in ports],
        ),
    ):
        body.family(_IB + name, kind, text, zip(told, values, strict=True))
    body.family(
        "node_boot_time_seconds",
        "gauge",
        "Node boot time, in unixtime.",
        [("", round(world.start_ns / 1e9, 3))],
    )
    body.family(
        "node_load1",
        "gauge",
        "1m load average.",
        [("", round(8.0 + 4.0 * float(world.gpus.busy[host].mean()), 2))],
    )
    return body.text()
