/** A separate disk with little room, for tests that fill it. */
import { execFileSync } from 'node:child_process'
import { appendFileSync, mkdtempSync, rmdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** What a test prints where it is skipped; false where it runs. */
export const CANNOT_MOUNT =
  process.platform === 'linux' && process.getuid?.() === 0 ? false : 'mounting a file system needs root'

export interface SmallDisk {
  readonly path: string
  /** Nothing on it may be open. */
  unmount(): void
}

/** @param size as `16m` */
export function mountSmallDisk(size: string): SmallDisk {
  const path = mkdtempSync(join(tmpdir(), 'claimcheck-disk-'))
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${size}`, 'tmpfs', path])
  return {
    path,
    unmount() {
      execFileSync('umount', [path])
      rmdirSync(path)
    },
  }
}

/** Writes a file until there is no room left, not even for a byte. */
export function fill(path: string): void {
  for (let bytes = 1 << 20; bytes >= 1; bytes >>= 1) {
    try {
      for (;;) appendFileSync(path, Buffer.alloc(bytes))
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error
    }
  }
}
