"""Network-scale load balance: every announced flow gets its path, all together."""

from actuators.placement.adapt import adapt
from actuators.placement.baselines import ecmp, greedy
from actuators.placement.certificate import Certificate
from actuators.placement.place import place
from actuators.placement.placement import Placement

__all__ = ["Certificate", "Placement", "adapt", "ecmp", "greedy", "place"]
