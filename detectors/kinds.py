"""The change detectors there are; an unknown kind is answered with this list."""

from typing import Annotated

from pydantic import Field

from detectors.adwin import AdwinConfig
from detectors.page_hinkley import PageHinkleyConfig

DetectorConfig = Annotated[PageHinkleyConfig | AdwinConfig, Field(discriminator="kind")]
