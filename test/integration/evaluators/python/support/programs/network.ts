/** Programs that try every way out of the machine, and to other processes on it. */
import { group, LIBC, orRaise, type Program, REFUSED } from './program.ts';

export const network: Program[] = group(REFUSED, {
  tcp: 'import _socket\ns = _socket.socket(_socket.AF_INET, _socket.SOCK_STREAM); s.connect(("1.1.1.1", 53)); return 1',
  'tcp by the library': 'import socket\nsocket.create_connection(("1.1.1.1", 53), 1); return 1',
  udp: 'import _socket\nreturn _socket.socket(_socket.AF_INET, _socket.SOCK_DGRAM).fileno()',
  'ip version 6': 'import _socket\nreturn _socket.socket(_socket.AF_INET6, _socket.SOCK_STREAM).fileno()',
  raw: 'import _socket\nreturn _socket.socket(_socket.AF_INET, _socket.SOCK_RAW, 1).fileno()',
  packet: 'import _socket\nreturn _socket.socket(17, _socket.SOCK_RAW, 0).fileno()',
  'abstract unix': 'import _socket\ns = _socket.socket(_socket.AF_UNIX); s.connect("\\0x"); return 1',
  'its own socket again':
    'import _socket\ns = _socket.socket(_socket.AF_UNIX); s.connect("socket"); return 1',
  socketpair: 'import _socket\n_socket.socketpair(); return 1',
  dns: 'import _socket\nreturn len(_socket.gethostbyname("localhost"))',
  'the ciphers of the kernel': 'import _socket\nreturn _socket.socket(38, 5, 0).fileno()',
  netlink: 'import _socket\n_socket.socket(16, 3, 0); return 1',
  vsock: 'import _socket\nreturn _socket.socket(40, 1, 0).fileno()',
  'sends a descriptor': `${LIBC}if libc.sendmsg(3, ctypes.create_string_buffer(56), 0) == -1: raise PermissionError\nreturn 1`,
  'accepts on its connection': orRaise('libc.accept(3, None, None)'),
  io_uring: orRaise('libc.syscall(425, 8, 0)'),
  'splices its connection': orRaise('libc.splice(3, None, 0, None, 1, 0)'),
  'an epoll': orRaise('libc.epoll_create1(0)'),
  pipe: 'import os\nreturn os.pipe()[0]',
});
