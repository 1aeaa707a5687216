"""fdatasync by the kernel itself, with no thread of ours: ``io_submit`` with IOCB_CMD_FDSYNC,
and an eventfd that counts when it is done.

Neither Python nor the C library has these calls, so they are made by number, on the machines whose numbers are here. Linux has the
operation since 4.18. What refuses it, such as a container that allows only some system calls, refuses before anything has begun.
"""

from __future__ import annotations

import ctypes
import errno
import os
import platform
import select
import sys
from typing import Any, Final, NamedTuple, NoReturn

_FDSYNC: Final = 3  # IOCB_CMD_FDSYNC of linux/aio_abi.h
_HAS_EVENTFD: Final = 1  # IOCB_FLAG_RESFD


class _Calls(NamedTuple):
    """The numbers of the system calls."""

    setup: int
    destroy: int
    getevents: int
    submit: int


# Both are little-endian, which the layout of ``_Request`` depends on.
_CALLS: Final = {"x86_64": _Calls(206, 207, 208, 209), "aarch64": _Calls(0, 1, 4, 2)}


class _Request(ctypes.Structure):
    """``struct iocb`` of linux/aio_abi.h."""

    _fields_ = (
        ("data", ctypes.c_uint64),
        ("key", ctypes.c_uint32),
        ("rw_flags", ctypes.c_int32),
        ("opcode", ctypes.c_uint16),
        ("reqprio", ctypes.c_int16),
        ("fildes", ctypes.c_uint32),
        ("buf", ctypes.c_uint64),
        ("nbytes", ctypes.c_uint64),
        ("offset", ctypes.c_int64),
        ("reserved2", ctypes.c_uint64),
        ("flags", ctypes.c_uint32),
        ("resfd", ctypes.c_uint32),
    )


class _Event(ctypes.Structure):
    """``struct io_event``."""

    _fields_ = (("data", ctypes.c_uint64), ("obj", ctypes.c_uint64), ("res", ctypes.c_int64), ("res2", ctypes.c_int64))


class KernelSync:
    """One sync at a time. ``fd`` is readable when it is over: then ``finish`` comes next."""

    def __init__(self) -> None:
        """Raise OSError if this system cannot do it."""
        calls = _CALLS.get(platform.machine()) if sys.platform == "linux" and sys.byteorder == "little" else None
        if calls is None:
            raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS))
        # Calls of a PyDLL keep the interpreter's lock; none of these waits.
        self._call = ctypes.PyDLL(None, use_errno=True).syscall
        self._call.restype = ctypes.c_long
        self._context = ctypes.c_ulong(0)
        if self._call(ctypes.c_long(calls.setup), ctypes.c_long(1), ctypes.byref(self._context)) != 0:
            _fail()
        self.fd = os.eventfd(0, os.EFD_NONBLOCK | os.EFD_CLOEXEC)
        self._request = _Request(opcode=_FDSYNC, flags=_HAS_EVENTFD, resfd=self.fd)
        self._event = _Event()
        one = ctypes.c_long(1)
        requests = (ctypes.POINTER(_Request) * 1)(ctypes.pointer(self._request))
        self._submit: tuple[Any, ...] = (ctypes.c_long(calls.submit), self._context, one, requests)
        self._getevents: tuple[Any, ...] = (
            ctypes.c_long(calls.getevents),
            self._context,
            one,
            one,
            ctypes.byref(self._event),
            None,
        )
        self._destroy: tuple[Any, ...] = (ctypes.c_long(calls.destroy), self._context)

    def start(self, fd: int) -> None:
        """Begin to sync a file. OSError: the kernel does not do that, and nothing has begun."""
        self._request.fildes = fd
        if self._call(*self._submit) != 1:
            _fail()

    def wait(self) -> None:
        """Return when the sync is over."""
        waiting = select.poll()
        waiting.register(self.fd, select.POLLIN)
        waiting.poll()

    def finish(self) -> OSError | None:
        """Take the outcome of a sync that is over: None, or what fdatasync would have raised."""
        os.eventfd_read(self.fd)
        while self._call(*self._getevents) != 1:
            if ctypes.get_errno() != errno.EINTR:
                _fail()
        failed = -self._event.res
        return OSError(failed, os.strerror(failed)) if failed else None

    def close(self) -> None:
        """Give everything back. No sync is under way."""
        self._call(*self._destroy)
        os.close(self.fd)


def _fail() -> NoReturn:
    code = ctypes.get_errno()
    raise OSError(code, os.strerror(code))
