/** Which host this is, among those that share a database, and which process of it. */
import { randomBytes, randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { replaceFile, writeNewFile } from '../../../base/files.ts'
import type { HostConfig } from '../../../config/config.ts'
import { COMMAND, type LogHost } from '../../../storage/log-hosts.ts'

export type HostIdentity = ReturnType<typeof createHostIdentity>

/** The first digits of hosts' ids tell them apart. */
const HOST_ID_LENGTH = 8

export function createHostIdentity({ config: { dataDir } }: { readonly config: Pick<HostConfig, 'dataDir'> }) {
  const path = join(dataDir, 'host-id')
  let id: string | undefined
  let process = COMMAND
  function hostId(): string {
    id ??= storedId(path)
    return id
  }
  return {
    /** Stays the same after a restart: no host waits for what this one was before. */
    hostId,
    /** Later ones of a host are larger. `command` in a command, which is no host. */
    process: () => process,
    /** Says that this process runs the host. */
    begin(): void {
      if (process === COMMAND) process = Date.now().toString(36) + randomBytes(2).toString('hex')
    },
    /** Makes this another host than the one that has a copy of DATA_DIR. */
    renew(): string {
      id = randomUUID()
      replaceFile(path, id)
      return id
    },
    /** Names this process in the records that it writes; undefined in a command. */
    entry: () => (process === COMMAND ? undefined : `${hostId().slice(0, HOST_ID_LENGTH)}/${process}`),
  }
}

/** Tells whether one of the entries is of the process that ran the host last, or of a later one: it writes each head there. */
export function isWrittenBy(
  entries: readonly string[],
  { hostId, process }: Pick<LogHost, 'hostId' | 'process'>,
): boolean {
  return entries.some((entry) => {
    const [host, of = ''] = entry.split('/')
    return host === hostId.slice(0, HOST_ID_LENGTH) && of >= process
  })
}

function storedId(path: string): string {
  try {
    writeNewFile(path, randomUUID())
    return readFileSync(path, 'utf8')
  } catch {
    return randomUUID()
  }
}
