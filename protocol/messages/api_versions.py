"""ApiVersions (18): what a broker serves.

A client asks before it knows anything: an unknown version of the request is answered in version 0, and the response's header has
version 0 always (KIP-511). Version 1 adds the throttle time, 3 the client's software and the features (KIP-511, KIP-584), 4 lets
a feature start at level 0.
"""

from __future__ import annotations

from typing import Annotated

from protocol.fields import Bool, Int16, Int32, Int64, Item, Message, String, V, request, response


class ApiVersionsRequest(Message):
    kafka = request(18, "0-4", flexible="3+")
    client_software_name: Annotated[String, V("3+", ignorable=True)] = ""
    client_software_version: Annotated[String, V("3+", ignorable=True)] = ""


class ApiVersionsResponse(Message):
    kafka = response(18, "0-4", flexible="3+")
    error_code: Int16 = 0
    api_keys: list[ApiVersion] = []
    throttle_time_ms: Annotated[Int32, V("1+", ignorable=True)] = 0
    supported_features: Annotated[list[SupportedFeatureKey], V("3+", ignorable=True, tag=0)] = []
    finalized_features_epoch: Annotated[Int64, V("3+", ignorable=True, tag=1)] = -1
    finalized_features: Annotated[list[FinalizedFeatureKey], V("3+", ignorable=True, tag=2)] = []
    zk_migration_ready: Annotated[Bool, V("3+", ignorable=True, tag=3)] = False


class ApiVersion(Item):
    api_key: Int16 = 0
    min_version: Int16 = 0
    max_version: Int16 = 0


class SupportedFeatureKey(Item):
    name: String = ""
    min_version: Int16 = 0
    max_version: Int16 = 0


class FinalizedFeatureKey(Item):
    name: String = ""
    max_version_level: Int16 = 0
    min_version_level: Int16 = 0
