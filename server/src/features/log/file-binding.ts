/** Binds the log to the file that the database is in: a copy of that file may be an old one. */
import { type BigIntStats, statSync } from 'node:fs'
import type { FastifyBaseLogger } from 'fastify'
import { ServiceError } from '../../base/errors.ts'
import type { LogState } from '../../storage/log-state.ts'
import type { Storage } from '../../storage/storage.ts'
import type { LogAgreement } from './agreement.ts'

export const OTHER_FILE =
  'the database file is not the one that was signed with before: it was restored or copied. Restore the newest database, or begin another log with: claimcheck log new. Where a folder apart from DATA_DIR proves that this is the newest, claimcheck log resume goes on with it'
const REPLACED = 'the database file was moved or replaced while this host ran: restart it'
/** The file system does not say when it made a file. */
const UNKNOWN = 'file:'

interface FileBindingOptions {
  readonly storage: Pick<Storage, 'write'>
  readonly logger: Pick<FastifyBaseLogger, 'info' | 'warn'>
}

export function createFileBinding(path: string, { storage, logger }: FileBindingOptions): LogAgreement {
  const opened = identityOf(path)

  const bind = ({ logId }: LogState, to: string) =>
    storage.write(async (tx) => {
      const log = await tx.log.lock()
      if (log?.logId !== logId || log.contradictedBy !== null) return false
      await tx.log.bind(log, to, '')
      return true
    })

  return {
    begin: async () => ({ hosts: [], isKnownElsewhere: () => false }),
    async settle(_round, log, { proveNewest }) {
      // By the inode: some systems give the time of the last change where they know no birth time.
      if (!isSame(inodeOf(identityOf(path)), inodeOf(opened))) return REPLACED
      if (isSame(log.agreedOn, opened)) {
        // Now the file system says more.
        if (log.agreedOn !== opened && opened !== UNKNOWN) await bind(log, opened)
        return undefined
      }
      // A copy that has all rows of its source, or rows of a server.
      const isNew = !log.agreedOn.startsWith(UNKNOWN)
      if (!isNew && !proveNewest) return OTHER_FILE
      if (!isNew) logger.warn('the database file is another one than before, and has all that was signed')
      await bind(log, opened)
      return undefined
    },
    isBound: ({ agreedOn }) => isSame(agreedOn, opened),
    confirm: (log) => bind(log, opened),
    file: () => opened,
    forget: async () => {
      throw new ServiceError('conflict', 'one host has this database: there is none to forget')
    },
    leave: async () => {},
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

function isSame(one: string, other: string): boolean {
  return one === other || one === UNKNOWN || other === UNKNOWN
}
