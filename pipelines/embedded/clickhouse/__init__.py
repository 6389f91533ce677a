"""The ClickHouse engine behind ClickHouse's HTTP protocol, in one process of its own.

`chdb` is the engine of a ClickHouse server without its network part; this package is that part.
What differs from a server:

- One user, no grants: who may write may also read files through `file()`. Keep it on loopback.
- An answer is complete before its first byte is sent (`wait_end_of_query=1` always): the status
  code is always right, and a huge answer is held in memory.
- An insert is one block up to 16 Mi rows or 512 MiB instead of a server's 1 Mi: what fails while
  it is read has stored nothing.
- A read-only request of a session runs beside it and does not see its temporary tables.
- The engine names queries itself: `query_id` is echoed and kept in `log_comment`, and
  `KILL QUERY` knows only the engine's names.
- No external tables (files in multipart bodies), and no `INSERT ... SELECT ... FROM input()`.
"""
