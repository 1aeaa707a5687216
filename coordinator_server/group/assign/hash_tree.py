"""A bucket of a Java HashMap that has become a red-black tree.

Its nodes are chained too, and iteration follows the chain. A new node comes into the chain behind its parent of that moment,
and after each change the root becomes the first of the chain. So the order depends on the shape of the tree.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

_LEFT: Final = 0
_RIGHT: Final = 1


class TreeBucket:
    """The hashes in one bucket, all different. ``chain`` has them in the order of iteration."""

    __slots__ = ("_children", "_parent", "_red", "_root", "chain")

    def __init__(self, hashes: Iterable[int]) -> None:
        self.chain = list(hashes)
        self._children: tuple[dict[int, int], dict[int, int]] = ({}, {})
        self._parent: dict[int, int] = {}
        self._red: set[int] = set()
        self._root = self.chain[0]
        for each in self.chain[1:]:
            self._insert(each)
        self._root_first()

    def add(self, new: int) -> None:
        """Add a hash that the bucket does not have."""
        parent = self._insert(new)
        self.chain.insert(self.chain.index(parent) + 1, new)
        self._root_first()

    def remove(self, old: int) -> bool:
        """Remove a hash. Return whether the tree is too small by now: then it has to become a list again."""
        self.chain.remove(old)
        left, right = self._children
        child = left.get(self._root)
        if not self.chain or self._root not in right or child is None or child not in left:
            return True
        self._delete(old)
        self._root_first()
        return False

    def _root_first(self) -> None:
        self.chain.remove(self._root)
        self.chain.insert(0, self._root)

    def _insert(self, new: int) -> int:
        """Put a node into the tree; return the parent that it got before the tree was balanced."""
        parent: int | None = self._root
        while parent is not None:
            found, side = parent, _LEFT if parent > new else _RIGHT
            parent = self._children[side].get(parent)
        self._link(new, found, side)
        self._red.add(new)
        self._balance_insertion(new)
        return found

    def _link(self, child: int | None, parent: int | None, side: int) -> None:
        if parent is None:
            assert child is not None
            self._root = child
            self._parent.pop(child, None)
        elif child is None:
            self._children[side].pop(parent, None)
        else:
            self._children[side][parent] = child
            self._parent[child] = parent

    def _side(self, child: int, parent: int) -> int:
        return _LEFT if self._children[_LEFT].get(parent) == child else _RIGHT

    def _rotate(self, node: int, side: int) -> None:
        """Let the child on the other side take the node's place, and the node that of its child on this side."""
        riser = self._children[1 - side].get(node)
        if riser is None:
            return
        above = self._parent.get(node)
        at = _LEFT if above is None else self._side(node, above)
        self._link(self._children[side].get(riser), node, 1 - side)
        self._link(riser, above, at)
        if above is None:
            self._red.discard(riser)
        self._link(node, riser, side)

    def _balance_insertion(self, node: int) -> None:
        red = self._red
        while True:
            parent = self._parent.get(node)
            if parent is None:
                red.discard(node)
                return
            above = self._parent.get(parent)
            if parent not in red or above is None:
                return
            side = self._side(parent, above)
            uncle = self._children[1 - side].get(above)
            if uncle is not None and uncle in red:
                red -= {uncle, parent}
                red.add(above)
                node = above
                continue
            if self._side(node, parent) != side:
                self._rotate(parent, side)
                node, parent = parent, node
            red.discard(parent)
            red.add(above)
            self._rotate(above, 1 - side)

    def _delete(self, old: int) -> None:
        left, right = self._children
        if old in left and old in right:
            self._swap_with_next(old)
        above = self._parent.get(old)
        heir = left.get(old, right.get(old))
        if heir is not None:
            self._link(heir, above, _LEFT if above is None else self._side(old, above))
            if above is None:
                self._red.discard(heir)
        if old not in self._red:
            self._balance_deletion(old if heir is None else heir)
        if heir is None:
            above = self._parent.get(old)
            if above is not None:
                self._link(None, above, self._side(old, above))
        left.pop(old, None)
        right.pop(old, None)
        self._parent.pop(old, None)
        self._red.discard(old)

    def _swap_with_next(self, old: int) -> None:
        """Exchange a node with two children and the smallest one to its right: places and colours."""
        left, right = self._children
        least = right[old]
        while least in left:
            least = left[least]
        if (old in self._red) != (least in self._red):
            self._red ^= {old, least}
        above = self._parent.get(old)
        at = _LEFT if above is None else self._side(old, above)
        old_left, old_right = left.pop(old), right.pop(old)
        beyond = right.pop(least, None)
        if least == old_right:
            self._link(least, above, at)
            self._link(old, least, _RIGHT)
        else:
            self._link(old, self._parent[least], _LEFT)
            self._link(least, above, at)
            self._link(old_right, least, _RIGHT)
        self._link(old_left, least, _LEFT)
        if beyond is not None:
            self._link(beyond, old, _RIGHT)

    def _balance_deletion(self, node: int) -> None:
        red = self._red
        while node != self._root:
            parent = self._parent[node]
            if node in red:
                red.discard(node)
                return
            side = self._side(node, parent)
            near, far = self._children[side], self._children[1 - side]
            sibling = far.get(parent)
            if sibling is not None and sibling in red:
                red.discard(sibling)
                red.add(parent)
                self._rotate(parent, side)
                sibling = far.get(parent)
            if sibling is None:
                node = parent
                continue
            inner, outer = near.get(sibling), far.get(sibling)
            if inner not in red and outer not in red:
                red.add(sibling)
                node = parent
                continue
            if outer not in red:
                assert inner is not None
                red.discard(inner)
                red.add(sibling)
                self._rotate(sibling, 1 - side)
                sibling = inner
            if parent in red:
                red.add(sibling)
            else:
                red.discard(sibling)
            outer = far.get(sibling)
            if outer is not None:
                red.discard(outer)
            red.discard(parent)
            self._rotate(parent, side)
            return
