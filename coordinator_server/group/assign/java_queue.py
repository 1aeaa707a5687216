"""The order of a Java PriorityQueue."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Generic, Protocol, TypeVar


class Loaded(Protocol):
    """What a queue orders. The load may change only while the element is not in the queue."""

    @property
    def load(self) -> float: ...


T = TypeVar("T", bound=Loaded)


class JavaQueue(Generic[T]):
    """A binary heap that yields elements of equal loads in the order of Java's, which is neither by insertion nor stable."""

    __slots__ = ("_heap",)

    def __init__(self, elements: Iterable[T]) -> None:
        """Add the elements one by one, as ``PriorityQueue.addAll`` does."""
        self._heap: list[T] = []
        for element in elements:
            self.add(element)

    def __bool__(self) -> bool:
        return bool(self._heap)

    def add(self, element: T) -> None:
        """Add an element."""
        heap, load = self._heap, element.load
        place = len(heap)
        heap.append(element)
        while place > 0:
            parent = (place - 1) >> 1
            above = heap[parent]
            if load >= above.load:
                break
            heap[place] = above
            place = parent
        heap[place] = element

    def poll(self) -> T:
        """Remove an element with the least load and return it. Raises IndexError if there is none."""
        heap = self._heap
        last = heap.pop()
        if not heap:
            return last
        least, load = heap[0], last.load
        place, end = 0, len(heap)
        while place < end >> 1:
            child = 2 * place + 1
            if child + 1 < end and heap[child].load > heap[child + 1].load:
                child += 1
            below = heap[child]
            if load <= below.load:
                break
            heap[place] = below
            place = child
        heap[place] = last
        return least
