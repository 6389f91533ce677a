"""Metrics of NICs that do RDMA, as node_exporter and recorded runs name them."""

from cluster.metric import Bad, Kind, Metric
from cluster.metrics.rows import named

METRICS = (
    Metric(
        name="rdma_port_transmit_bytes_total",
        kind=Kind.COUNTER,
        unit="By",
        bad=Bad.DOWN,
        sources=named(node_exporter="node_infiniband_port_data_transmitted_bytes_total"),
    ),
    Metric(
        name="rdma_port_receive_bytes_total",
        kind=Kind.COUNTER,
        unit="By",
        bad=Bad.DOWN,
        sources=named(node_exporter="node_infiniband_port_data_received_bytes_total"),
    ),
    Metric(
        name="rdma_port_transmit_wait_total",
        kind=Kind.COUNTER,
        unit="{tick}",
        bad=Bad.UP,
        sources=named(node_exporter="node_infiniband_port_transmit_wait_total"),
    ),
    Metric(
        name="rdma_port_transmit_packets_total",
        kind=Kind.COUNTER,
        unit="{packet}",
        sources=named(node_exporter="node_infiniband_port_packets_transmitted_total"),
    ),
    Metric(
        name="rdma_port_receive_packets_total",
        kind=Kind.COUNTER,
        unit="{packet}",
        sources=named(node_exporter="node_infiniband_port_packets_received_total"),
    ),
    Metric(
        name="rdma_link_downed_total",
        kind=Kind.COUNTER,
        unit="{transition}",
        bad=Bad.UP,
        sources=named(node_exporter="node_infiniband_link_downed_total"),
    ),
    Metric(
        name="rdma_np_cnp_sent_total",
        kind=Kind.COUNTER,
        unit="{packet}",
        bad=Bad.UP,
        sources=named(node_exporter="node_infiniband_np_cnp_sent_total", rdma="np_cnp_sent"),
    ),
    Metric(
        name="rdma_rp_cnp_handled_total",
        kind=Kind.COUNTER,
        unit="{packet}",
        bad=Bad.UP,
        sources=named(node_exporter="node_infiniband_rp_cnp_handled_total", rdma="rp_cnp_handled"),
    ),
    Metric(
        name="rdma_out_of_sequence_total",
        kind=Kind.COUNTER,
        unit="{packet}",
        bad=Bad.UP,
        sources=named(
            node_exporter="node_infiniband_out_of_sequence_total", rdma="out_of_sequence"
        ),
    ),
    Metric(
        name="rdma_port_reported_transmit_bytes_per_second",
        kind=Kind.GAUGE,
        unit="By/s",
        bad=Bad.DOWN,
        least_peer_ratio=0.015,
        sources=named(ib_csv="tx_bytes_s"),
    ),
    Metric(
        name="rdma_port_reported_receive_bytes_per_second",
        kind=Kind.GAUGE,
        unit="By/s",
        bad=Bad.DOWN,
        least_peer_ratio=0.015,
        sources=named(ib_csv="rx_bytes_s"),
    ),
    Metric(
        name="rdma_port_reported_transmit_packets_per_second",
        kind=Kind.GAUGE,
        unit="{packet}/s",
        sources=named(ib_csv="tx_pkts_s"),
    ),
    Metric(
        name="rdma_port_reported_receive_packets_per_second",
        kind=Kind.GAUGE,
        unit="{packet}/s",
        sources=named(ib_csv="rx_pkts_s"),
    ),
)
