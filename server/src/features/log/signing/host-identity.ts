/** Which host this is, among those that share a database, and which process of it. */
import { randomBytes, randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { replaceFile, writeNewFile } from '../../../base/files.ts'
import type { HostConfig } from '../../../config/config.ts'
import type { LogHost } from '../../../storage/log-hosts.ts'

export type HostIdentity = ReturnType<typeof createHostIdentity>

/** The first digits of hosts' ids tell them apart. */
const HOST_ID_LENGTH = 8

export function createHostIdentity({ config: { dataDir } }: { readonly config: Pick<HostConfig, 'dataDir'> }) {
  const path = join(dataDir, 'host-id')
  let id: string | undefined
  let process = ''
  function hostId(): string {
    id ??= storedId(path)
    return id
  }
  return {
    /** Stays the same after a restart: no host waits for what this one was before. */
    hostId,
    /** Later ones of a host are larger. Empty in a command, which is no host. */
    process: () => process,
    /** Says that this process runs the host. */
    begin(): void {
      process ||= Date.now().toString(36) + randomBytes(2).toString('hex')
    },
    /** Makes this another host than the one that has a copy of DATA_DIR. */
    renew(): string {
      id = randomUUID()
      replaceFile(path, id)
      return id
    },
    /** Names this process in the records that it writes; undefined in a command. */
    entry: () => (process === '' ? undefined : `${shortHostId(hostId())}/${process}`),
  }
}

/** Tells whether one of the entries is of the process that ran the host last, or of a later one: it writes each head there. */
export function isWrittenBy(
  entries: readonly string[],
  { hostId, process }: Pick<LogHost, 'hostId' | 'process'>,
): boolean {
  return entries.some((entry) => {
    const [host, of = ''] = entry.split('/')
    return host === shortHostId(hostId) && of >= process
  })
}

/** The entries of a record, in which a later process of a host replaces the one before. */
export function mergeEntries(
  own: readonly string[] = [],
  others: readonly string[] = [],
): readonly string[] | undefined {
  const hosts = new Set(own.map(hostOf))
  const entries = [...own, ...others.filter((entry) => !hosts.has(hostOf(entry)))]
  return entries.length > 0 ? entries : undefined
}

function hostOf(entry: string): string {
  return entry.split('/')[0]!
}

function shortHostId(hostId: string): string {
  return hostId.slice(0, HOST_ID_LENGTH)
}

function storedId(path: string): string {
  try {
    writeNewFile(path, randomUUID())
    return readFileSync(path, 'utf8')
  } catch {
    return randomUUID()
  }
}
