"""Pin the images of others that deploy/ names to what their tags mean now: IMAGE:TAG becomes IMAGE:TAG@sha256:…

python3 scripts/pin_images.py      asks each image's registry; an image that is pinned gets what its tag means now, too

Nothing but Python is needed, and a network that reaches the registries. The digest is that of the bytes that the registry sends,
computed here. Exit code 1: a registry does not answer, or has no such image; no file is changed then.
"""

from __future__ import annotations

import hashlib
import json
import re
import sys
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Mapping
from pathlib import Path
from typing import Final, NamedTuple

# Started as a file, its directory is the first in which modules are looked for.
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from scripts.check_pins import ROOT, images

HUB: Final = "registry-1.docker.io"
WITHIN_S: Final = 30
# Lists of images for several platforms first: a digest of one of them would be for one platform.
_MANIFESTS: Final = (
    "application/vnd.oci.image.index.v1+json",
    "application/vnd.docker.distribution.manifest.list.v2+json",
    "application/vnd.oci.image.manifest.v1+json",
    "application/vnd.docker.distribution.manifest.v2+json",
)
_FIELD: Final = re.compile(r'(\w+)="([^"]*)"')


class Image(NamedTuple):
    """Where an image is. ``name`` is how files call it, without a digest."""

    name: str
    registry: str
    repository: str
    tag: str


def image_of(name: str) -> Image:
    """Return the image that a file names, as engines read the name: without a host it is Docker Hub's."""
    name = name.partition("@")[0]
    host, _, rest = name.partition("/")
    if not rest or not ("." in host or ":" in host or host == "localhost"):
        host, rest = "docker.io", name
    repository, _, tag = rest.partition(":")
    if host == "docker.io":
        host = HUB
        repository = repository if "/" in repository else f"library/{repository}"
    return Image(name, host, repository, tag or "latest")


def digest_of(image: Image, url: str) -> str:
    """Return the digest of an image at a registry. Raises OSError, among them HTTPError."""
    request = urllib.request.Request(
        f"{url}/v2/{image.repository}/manifests/{image.tag}", headers={"Accept": ", ".join(_MANIFESTS)}
    )
    try:
        content = _read(request)
    except urllib.error.HTTPError as refused:
        if refused.code != 401:
            raise
        request.add_header("Authorization", f"Bearer {_token(refused.headers.get('WWW-Authenticate', ''), url)}")
        content = _read(request)
    return f"sha256:{hashlib.sha256(content).hexdigest()}"


def _token(asked: str, url: str) -> str:
    """Return the token that a registry asks for: everybody gets one for what is public."""
    fields = dict(_FIELD.findall(asked))
    realm = fields.pop("realm", "")
    if urllib.parse.urlsplit(realm).scheme != urllib.parse.urlsplit(url).scheme:
        raise OSError(f"{url} sends clients to {realm or 'nobody'} for a token")
    answer = json.loads(_read(urllib.request.Request(f"{realm}?{urllib.parse.urlencode(fields)}")))
    return str(answer.get("token") or answer["access_token"])


def _read(request: urllib.request.Request) -> bytes:
    with urllib.request.urlopen(request, timeout=WITHIN_S) as answer:
        content: bytes = answer.read()
        return content


def pin(root: Path = ROOT, registries: Mapping[str, str] = {}) -> dict[str, str]:
    """Pin all images below ``root``, and return their digests. ``registries`` has URLs of those that are not at their names.

    Raises OSError, before any file is changed.
    """
    found = list(images(root))
    digests: dict[str, str] = {}
    for image in map(image_of, dict.fromkeys(each.name for each in found)):
        try:
            digests[image.name] = digest_of(image, registries.get(image.registry, f"https://{image.registry}"))
        except OSError as error:
            raise OSError(f"{image.name}: {error}") from error
    for path in dict.fromkeys(each.path for each in found):
        lines = path.read_text().splitlines(keepends=True)
        for each in found:
            if each.path == path:
                name = image_of(each.name).name
                lines[each.line - 1] = lines[each.line - 1].replace(each.name, f"{name}@{digests[name]}", 1)
        path.write_text("".join(lines))
    return digests


def main() -> int:
    """Pin, and print each image with its digest."""
    try:
        digests = pin()
    except OSError as error:
        print(f"nothing is changed: {error}", file=sys.stderr)
        return 1
    for name, digest in digests.items():
        print(f"{name}@{digest}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
