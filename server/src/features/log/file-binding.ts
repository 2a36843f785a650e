/**
 * Binds the log to the file that the database is in, and to its machine: a copy of that file may be an old one, and so may a disk that was
 * restored elsewhere.
 */
import { type BigIntStats, existsSync, readFileSync, statSync } from 'node:fs'
import type { FastifyBaseLogger } from 'fastify'
import { ServiceError } from '../../base/errors.ts'
import { sha256Text } from '../../base/sha256.ts'
import type { LogState } from '../../storage/log-state.ts'
import type { Storage } from '../../storage/storage.ts'
import type { LogAgreement } from './agreement.ts'

export const OTHER_FILE =
  'the database file is not the one that was signed with before, or it is on another machine: it was restored, copied or moved. Restore the newest database, or begin another log with: claimcheck log new. Where a folder apart from DATA_DIR proves that this is the newest, claimcheck log resume goes on with it'
const REPLACED = 'the database file was moved or replaced while this host ran: restart it'
/** The file system does not say when it made a file. */
const UNKNOWN = 'file:'

interface FileBindingOptions {
  readonly storage: Pick<Storage, 'read' | 'write'>
  readonly logger: Pick<FastifyBaseLogger, 'info' | 'warn'>
  readonly machine?: string
}

/** What binds a log to a file that it has just been copied to: whoever copies that has to prove that it is the newest. */
export function bindingOf(path: string) {
  return { agreedOn: identityOf(path), agreedSystem: machineId() }
}

export function createFileBinding(
  path: string,
  { storage, logger, machine = machineId() }: FileBindingOptions,
): LogAgreement {
  const opened = identityOf(path)

  const bind = ({ logId }: LogState, to: string) =>
    storage.write(async (tx) => {
      const log = await tx.log.lock()
      if (log?.logId !== logId || log.contradictedBy !== null) return false
      await tx.log.bind(log, to, machine)
      return true
    })

  return {
    begin: async () => ({ hosts: [], isKnownElsewhere: () => false }),
    async settle(_round, log, { proveNewest }) {
      // By the inode: some systems give the time of the last change where they know no birth time.
      if (!isSame(inodeOf(identityOf(path)), inodeOf(opened))) return REPLACED
      const before = (await storage.read.log.all()).find(({ logId }) => logId === log.logId)?.agreedSystem ?? ''
      const isBound = isSame(log.agreedOn, opened) && isSame(before, machine, '')
      // Rows that are bound to no file are of a copy that has all rows of its source, or of a server.
      const isOther = !isBound && log.agreedOn.startsWith(UNKNOWN)
      if (isOther && !proveNewest) return OTHER_FILE
      if (isOther) logger.warn('the database file is another one than before, and has all that was signed')
      // The system may say more than it did.
      const saysMore = opened !== UNKNOWN && (log.agreedOn !== opened || ![before, ''].includes(machine))
      if (!isBound || saysMore) await bind(log, opened)
      return undefined
    },
    isBound: ({ agreedOn }) => isSame(agreedOn, opened),
    confirm: (log) => bind(log, opened),
    file: () => opened,
    ranBefore: async () => [],
    forget: async () => {
      throw new ServiceError('conflict', 'one host has this database: there is none to forget')
    },
    leave: async () => {},
  }
}

/** Written by Docker, and by Podman. */
const CONTAINER_MARKS = ['/.dockerenv', '/run/.containerenv']
const MACHINE_IDS = ['/etc/machine-id', '/var/lib/dbus/machine-id']

/** The id of this machine, which is no secret any more; empty where there is none, as in most containers. */
export function machineId(): string {
  const isContainer = CONTAINER_MARKS.some(existsSync) || process.env.KUBERNETES_SERVICE_HOST !== undefined
  const mounts = isContainer ? textIn('/proc/self/mountinfo') : undefined
  for (const path of MACHINE_IDS) {
    const id = textIn(path).trim()
    const isOwn = mounts === undefined || isMountPoint(path, mounts)
    if (isOwn && /^[0-9a-f]{32}$/.test(id)) return `machine:${sha256Text(`claimcheck ${id}`).slice(0, 16)}`
  }
  return ''
}

/** Tells a machine's id from one that is part of a container's image, which each machine has that runs it. @param mounts `/proc/self/mountinfo` (proc_pid_mountinfo(5)) */
export function isMountPoint(path: string, mounts: string): boolean {
  return mounts.split('\n').some((line) => line.split(' ')[4] === path)
}

function textIn(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}

/** Not by the device: it has another number after the machine was started again. */
function identityOf(path: string): string {
  const found = stat(path)
  if (!found) return `${UNKNOWN}gone`
  return found.birthtimeNs === 0n ? UNKNOWN : `${UNKNOWN}${found.ino}/${found.birthtimeNs}`
}

function inodeOf(identity: string): string {
  return identity.split('/')[0]!
}

function stat(path: string): BigIntStats | undefined {
  return statSync(path, { bigint: true, throwIfNoEntry: false })
}

function isSame(one: string, other: string, unknown = UNKNOWN): boolean {
  return one === other || one === unknown || other === unknown
}
