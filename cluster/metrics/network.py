"""Metrics of switch ports, queues and optics.

OpenConfig names are schema paths without keys; SONiC's are fields of a ``COUNTERS`` blob.
"""

from typing import Any

from cluster.metric import Bad, Kind, Metric
from cluster.metrics.rows import named

_COUNTERS = "/interfaces/interface/state/counters/"
_ETHERNET = "/interfaces/interface/ethernet/state/"
_QUEUE = "/qos/interfaces/interface/output/queues/queue/state/"
_CHANNEL = "/components/component/transceiver/physical-channels/channel/state/"
_DROP = "/components/component/integrated-circuit/pipeline-counters/drop/state/"
_SAI = "SAI_PORT_STAT_"


def _port_counter(
    name: str, unit: str, leaf: str, sai: str = "", bad: Bad = Bad.UP, *, mdt: str = ""
) -> Metric:
    names = {"openconfig": _COUNTERS + leaf}
    names |= {"sonic": _SAI + sai} if sai else {}
    names |= {"cisco_mdt": mdt} if mdt else {}
    sources = named(scales=None, **names)
    return Metric(name=name, kind=Kind.COUNTER, unit=unit, bad=bad, sources=sources)


def _reported(
    name: str, column: str, unit: str, *, scale: float = 1.0, bad: Bad = Bad.NONE, **fields: Any
) -> Metric:
    """Return what a router works out itself; ours is worked out from its counters."""
    sources = named(cisco_mdt=column, scales={"cisco_mdt": scale})
    return Metric(name=name, kind=Kind.GAUGE, unit=unit, bad=bad, sources=sources, **fields)


METRICS = (
    _port_counter(
        "net_if_in_octets_total", "By", "in-octets", "IF_IN_OCTETS", Bad.DOWN, mdt="rx_bytes"
    ),
    _port_counter(
        "net_if_out_octets_total", "By", "out-octets", "IF_OUT_OCTETS", Bad.DOWN, mdt="tx_bytes"
    ),
    _port_counter("net_if_in_packets_total", "{packet}", "in-pkts", "", Bad.NONE, mdt="rx_packets"),
    _port_counter(
        "net_if_out_packets_total", "{packet}", "out-pkts", "", Bad.NONE, mdt="tx_packets"
    ),
    _port_counter(
        "net_if_in_unicast_packets_total",
        "{packet}",
        "in-unicast-pkts",
        "IF_IN_UCAST_PKTS",
        Bad.NONE,
    ),
    _port_counter(
        "net_if_out_unicast_packets_total",
        "{packet}",
        "out-unicast-pkts",
        "IF_OUT_UCAST_PKTS",
        Bad.NONE,
    ),
    _port_counter(
        "net_if_in_errors_total", "{packet}", "in-errors", "IF_IN_ERRORS", mdt="in_errors"
    ),
    _port_counter("net_if_out_errors_total", "{packet}", "out-errors", "IF_OUT_ERRORS"),
    _port_counter(
        "net_if_in_discards_total", "{packet}", "in-discards", "IF_IN_DISCARDS", mdt="in_drops"
    ),
    _port_counter(
        "net_if_out_discards_total", "{packet}", "out-discards", "IF_OUT_DISCARDS", mdt="out_drops"
    ),
    _port_counter("net_if_in_fcs_errors_total", "{packet}", "in-fcs-errors"),
    Metric(
        name="net_if_in_crc_errors_total",
        kind=Kind.COUNTER,
        unit="{packet}",
        bad=Bad.UP,
        sources=named(openconfig=_ETHERNET + "counters/in-crc-errors", cisco_mdt="crc_errors"),
    ),
    Metric(
        name="net_if_fec_corrected_blocks_total",
        kind=Kind.COUNTER,
        unit="{block}",
        bad=Bad.UP,
        least_effect_ratio=1.0,
        log=True,
        sources=named(openconfig=_ETHERNET + "counters/fec-corrected-blocks"),
    ),
    Metric(
        name="net_if_fec_uncorrectable_blocks_total",
        kind=Kind.COUNTER,
        unit="{block}",
        bad=Bad.UP,
        sources=named(openconfig=_ETHERNET + "counters/fec-uncorrectable-blocks"),
    ),
    Metric(
        name="net_if_pre_fec_ber_ratio",
        kind=Kind.GAUGE,
        unit="1",
        bad=Bad.UP,
        least_effect_ratio=1.0,
        log=True,
        highest=1.0,
        sources=named(openconfig=_ETHERNET + "pre-fec-ber/instant"),
    ),
    Metric(
        name="net_if_oper_up",
        kind=Kind.STATE,
        unit="1",
        bad=Bad.DOWN,
        sources=named(openconfig="/interfaces/interface/state/oper-status"),
    ),
    Metric(
        name="net_if_admin_up",
        kind=Kind.STATE,
        unit="1",
        sources=named(openconfig="/interfaces/interface/state/admin-status"),
    ),
    Metric(
        name="net_queue_transmit_octets_total",
        kind=Kind.COUNTER,
        unit="By",
        sources=named(openconfig=_QUEUE + "transmit-octets"),
    ),
    Metric(
        name="net_queue_transmit_packets_total",
        kind=Kind.COUNTER,
        unit="{packet}",
        sources=named(openconfig=_QUEUE + "transmit-pkts", sonic="SAI_QUEUE_STAT_PACKETS"),
    ),
    Metric(
        name="net_queue_dropped_packets_total",
        kind=Kind.COUNTER,
        unit="{packet}",
        bad=Bad.UP,
        sources=named(openconfig=_QUEUE + "dropped-pkts", sonic="SAI_QUEUE_STAT_DROPPED_PACKETS"),
    ),
    Metric(
        name="net_queue_ecn_marked_packets_total",
        kind=Kind.COUNTER,
        unit="{packet}",
        bad=Bad.UP,
        least_effect_ratio=0.5,
        sources=named(
            openconfig=_QUEUE + "ecn-marked-pkts",
            sonic="SAI_QUEUE_STAT_WRED_ECN_MARKED_PACKETS",
        ),
    ),
    Metric(
        name="net_queue_max_length_bytes",
        kind=Kind.GAUGE,
        unit="By",
        sources=named(openconfig=_QUEUE + "max-queue-len"),
    ),
    Metric(
        name="net_route_next_hop_weight",
        kind=Kind.STATE,
        unit="1",
        sources=named(
            openconfig="/network-instances/network-instance/protocols/protocol"
            "/static-routes/static/next-hops/next-hop/state/wecmp-weight"
        ),
    ),
    Metric(
        name="net_optics_input_power_dbm",
        kind=Kind.GAUGE,
        unit="dBm",
        bad=Bad.DOWN,
        lowest=-60.0,
        highest=30.0,
        sources=named(openconfig=_CHANNEL + "input-power/instant"),
    ),
    Metric(
        name="net_optics_output_power_dbm",
        kind=Kind.GAUGE,
        unit="dBm",
        bad=Bad.DOWN,
        lowest=-60.0,
        highest=30.0,
        sources=named(openconfig=_CHANNEL + "output-power/instant"),
    ),
    Metric(
        name="net_optics_osnr_decibels",
        kind=Kind.GAUGE,
        unit="dB",
        bad=Bad.DOWN,
        highest=80.0,
        sources=named(openconfig="/components/component/optical-channel/state/osnr/instant"),
    ),
    Metric(
        name="net_optics_laser_temperature_celsius",
        kind=Kind.GAUGE,
        unit="Cel",
        bad=Bad.UP,
        lowest=-60.0,
        highest=200.0,
        sources=named(openconfig=_CHANNEL + "laser-temperature/instant"),
    ),
    Metric(
        name="net_pipeline_adverse_drops_total",
        kind=Kind.COUNTER,
        unit="{packet}",
        bad=Bad.UP,
        sources=named(openconfig=_DROP + "adverse-aggregate"),
    ),
    Metric(
        name="net_pipeline_no_route_drops_total",
        kind=Kind.COUNTER,
        unit="{packet}",
        bad=Bad.UP,
        sources=named(openconfig=_DROP + "no-route", cisco_mdt="no-route-packets"),
    ),
    Metric(
        name="net_pipeline_incomplete_adjacency_drops_total",
        kind=Kind.COUNTER,
        unit="{packet}",
        bad=Bad.UP,
        sources=named(cisco_mdt="incomplete-adjacency-packets"),
    ),
    _port_counter(
        "net_if_carrier_transitions_total",
        "{transition}",
        "carrier-transitions",
        mdt="carrier_transitions",
    ),
    _reported("net_if_in_bits_per_second", "in_kbps", "bit/s", scale=1000.0),
    _reported("net_if_out_bits_per_second", "out_kbps", "bit/s", scale=1000.0),
    _reported("net_if_reported_in_packets_per_second", "in_pps", "{packet}/s"),
    _reported("net_if_reported_out_packets_per_second", "out_pps", "{packet}/s"),
    _reported("net_if_in_load_ratio", "in_load", "1", scale=1 / 255, highest=1.0),
    _reported("net_if_out_load_ratio", "out_load", "1", scale=1 / 255, highest=1.0),
    _reported("net_if_bandwidth_bits_per_second", "bandwidth_kbps", "bit/s", scale=1000.0),
    Metric(
        name="net_bgp_established_neighbors",
        kind=Kind.GAUGE,
        unit="{neighbor}",
        bad=Bad.DOWN,
        sources=named(
            openconfig="/network-instances/network-instance/protocols/protocol/bgp/global"
            "/state/established-neighbors",
            cisco_node="global__established-neighbors-count-total",
        ),
    ),
    Metric(
        name="net_bgp_paths",
        kind=Kind.GAUGE,
        unit="{path}",
        bad=Bad.BOTH,
        sources=named(
            openconfig="/network-instances/network-instance/protocols/protocol/bgp/global"
            "/state/total-paths",
            cisco_node=("vrf__path-count", "paths-count"),
        ),
    ),
    # Worked out by detection where topology is not known; no source has them.
    Metric(
        name="net_device_traffic_moved_nepers",
        kind=Kind.GAUGE,
        unit="Np",
        bad=Bad.UP,
        least_effect_ratio=2.0,
    ),
    Metric(name="net_if_carries_traffic", kind=Kind.STATE, unit="1"),
    _reported(
        "net_if_reliability_ratio", "reliability", "1", scale=1 / 255, bad=Bad.DOWN, highest=1.0
    ),
)
