/** OAuth clients of machines: each gets short-lived tokens for one workspace with its id and secret, and no person is asked. */
import { randomBytes } from 'node:crypto'
import { formatInstant, type Instant } from '@claimcheck/core/rules'
import { byCommand } from '../../base/actor.ts'
import { ServiceError } from '../../base/errors.ts'
import { hashToken, newToken } from '../../base/tokens.ts'
import { readName, refuseLookAlike } from '../../names/names.ts'
import type { MachineRow } from '../../storage/machines.ts'
import type { Storage } from '../../storage/storage.ts'
import { DEFAULT_LIMITS, type LimitsConfig } from '../workspaces/limits-config.ts'
import { requireRoom } from '../workspaces/possession-limits.ts'
import { requireWorkspace } from '../workspaces/workspaces.ts'
import { SCOPES, type Scope } from './scopes.ts'

export type Machine = Omit<MachineRow, 'secretHash'>

const ID_PREFIX = 'machine_'
/** The prefix by which scanners know a leaked secret. */
export const MACHINE_SECRET_PREFIX = 'svc_cs_'
export const MACHINE_SECRET_PATTERN = String.raw`\bsvc_cs_[A-Za-z0-9_-]{42}[AEIMQUYcgkosw048](?![A-Za-z0-9_-])`

export function isMachineId(clientId: string): boolean {
  return clientId.startsWith(ID_PREFIX)
}

export function machineScopes({ scopes }: Pick<MachineRow, 'scopes'>): Scope[] {
  return scopes.filter(isForMachines)
}

export type MachineService = ReturnType<typeof createMachineService>
export type NewMachine = Awaited<ReturnType<MachineService['create']>>

/** Makes the service of machines. The parameter `by` of each method is the actor; by default the command line. */
export function createMachineService(parts: { storage: Storage; now: () => Instant; config?: LimitsConfig }) {
  const { storage, now, config } = parts
  return {
    /** Makes a client, whose secret is not stored. @throws ServiceError `bad_request` for a name or scopes that are not valid */
    async create(workspaceId: string, name: string, scopes: readonly string[], by = byCommand()) {
      const clientId = ID_PREFIX + randomBytes(16).toString('base64url')
      const clientSecret = MACHINE_SECRET_PREFIX + newToken()
      const row: MachineRow = {
        id: clientId,
        workspaceId,
        name: readName(name),
        secretHash: hashToken(clientSecret),
        lastFour: clientSecret.slice(-4),
        scopes: requireScopes(scopes),
        createdBy: by.actor.kind === 'user' ? by.actor.id : null,
        createdAt: now(),
        lastUsedAt: null,
        revokedAt: null,
      }
      await storage.write(async (tx) => {
        await requireWorkspace(tx, workspaceId)
        const others = (await tx.machines.list(workspaceId)).filter(({ revokedAt }) => revokedAt === null)
        const names = others.map((machine) => machine.name)
        refuseLookAlike(row.name, names)
        requireRoom(config?.limits ?? DEFAULT_LIMITS, 'machine', others.length + 1, by)
        await tx.machines.insert(row)
        const details = { name: row.name, scopes: row.scopes.join(' ') }
        tx.audit.record({ event: 'machine.created', at: now(), by, workspaceId, subject: clientId, details })
      })
      return { clientId, clientSecret }
    },
    /** Lists the machines, oldest first, also revoked ones. */
    async list(workspaceId?: string): Promise<readonly Machine[]> {
      return (await storage.read.machines.list(workspaceId)).map(toMachine)
    },
    /** Ends the machine and its tokens at once. A second time changes nothing. @throws ServiceError `not_found`, also for a machine of another workspace */
    revoke: (id: string, workspaceId?: string, by = byCommand()): Promise<Machine> =>
      storage.write(async (tx) => {
        const row = await tx.machines.lock(id)
        if (!row || (workspaceId !== undefined && row.workspaceId !== workspaceId)) {
          throw new ServiceError('not_found', `there is no machine ${id}`)
        }
        if (row.revokedAt !== null) return toMachine(row)
        await tx.machines.revoke(id, now())
        const about = { workspaceId: row.workspaceId, subject: id }
        const details = { name: row.name, made: formatInstant(row.createdAt) }
        tx.audit.record({ event: 'machine.revoked', at: now(), by, ...about, details })
        return { ...toMachine(row), revokedAt: now() }
      }),
  }
}

/**
 * Reads the scopes of a machine.
 * @throws ServiceError `bad_request`
 */
function requireScopes(scopes: readonly string[]): Scope[] {
  const known = [...new Set(scopes)].filter(isForMachines)
  if (known.length > 0 && scopes.every(isForMachines)) return known
  throw new ServiceError('bad_request', `choose one or more of the scopes ${SCOPES.join(', ')}`)
}

function isForMachines(scope: string): scope is Scope {
  return (SCOPES as readonly string[]).includes(scope)
}

function toMachine({ secretHash: _, ...machine }: MachineRow): Machine {
  return machine
}
