"""The change detectors there are; an unknown kind is answered with this list."""

from typing import Annotated

from pydantic import Field

from detectors.adwin import AdwinConfig
from detectors.cusum import CusumConfig
from detectors.page_hinkley import PageHinkleyConfig
from detectors.variance import VarianceConfig

DetectorConfig = Annotated[
    PageHinkleyConfig | CusumConfig | VarianceConfig | AdwinConfig, Field(discriminator="kind")
]
