/** OAuth clients of machines: each gets short-lived tokens for one workspace with its id and secret, and no person is asked. */
import { randomBytes } from 'node:crypto'
import { formatInstant, type Instant } from '@claimcheck/core/rules'
import { type Acting, byCommand } from '../../base/actor.ts'
import { ServiceError } from '../../base/errors.ts'
import { readName, refuseLookAlike } from '../../base/names.ts'
import { hashToken, newToken } from '../../base/tokens.ts'
import type { MachineRow } from '../../storage/machines.ts'
import type { Storage } from '../../storage/storage.ts'
import { DEFAULT_LIMITS, type LimitsConfig } from '../workspaces/limits-config.ts'
import { requireRoom } from '../workspaces/possession-limits.ts'
import { requireWorkspace } from '../workspaces/workspaces.ts'
import { SCOPES, type Scope } from './scopes.ts'

export type Machine = Omit<MachineRow, 'secretHash'>

export interface NewMachine {
  readonly clientId: string
  /** The service does not store it. */
  readonly clientSecret: string
}

/** @param by who does it; by default the command line */
export interface MachineService {
  /** @throws ServiceError `bad_request` for a name or scopes that are not valid */
  create(workspaceId: string, name: string, scopes: readonly string[], by?: Acting): Promise<NewMachine>
  /** Also revoked ones, oldest first. */
  list(workspaceId?: string): Promise<readonly Machine[]>
  /** Its tokens end at once. A second time changes nothing. @throws ServiceError `not_found`, also for a machine of another workspace */
  revoke(id: string, workspaceId?: string, by?: Acting): Promise<Machine>
}

const ID_PREFIX = 'machine_'
/** By this scanners know a leaked secret. */
export const MACHINE_SECRET_PREFIX = 'svc_cs_'
export const MACHINE_SECRET_PATTERN = String.raw`\bsvc_cs_[A-Za-z0-9_-]{42}[AEIMQUYcgkosw048](?![A-Za-z0-9_-])`

export function isMachineId(clientId: string): boolean {
  return clientId.startsWith(ID_PREFIX)
}

/** As the library keeps it: the text that a client sends is hashed before the two are compared. */
export function hashSecret(secret: string): string {
  return hashToken(secret)
}

export function machineScopes({ scopes }: Pick<MachineRow, 'scopes'>): Scope[] {
  return scopes.filter(isForMachines)
}

interface MachineOptions {
  readonly storage: Storage
  readonly now: () => Instant
  readonly config?: LimitsConfig
}

export function createMachineService({ storage, now, config }: MachineOptions): MachineService {
  return {
    async create(workspaceId, name, scopes, by = byCommand()) {
      const clientId = ID_PREFIX + randomBytes(16).toString('base64url')
      const clientSecret = MACHINE_SECRET_PREFIX + newToken()
      const row: MachineRow = {
        id: clientId,
        workspaceId,
        name: readName(name),
        secretHash: hashSecret(clientSecret),
        lastFour: clientSecret.slice(-4),
        scopes: readAll(scopes),
        createdBy: by.actor.kind === 'user' ? by.actor.id : null,
        createdAt: now(),
        lastUsedAt: null,
        revokedAt: null,
      }
      await storage.write(async (tx) => {
        await requireWorkspace(tx, workspaceId)
        const others = (await tx.machines.list(workspaceId)).filter(({ revokedAt }) => revokedAt === null)
        refuseLookAlike(
          row.name,
          others.map((machine) => machine.name),
        )
        requireRoom(config?.limits ?? DEFAULT_LIMITS, 'machine', others.length + 1, by)
        await tx.machines.insert(row)
        const details = { name: row.name, scopes: row.scopes.join(' ') }
        tx.audit.record({ event: 'machine.created', at: now(), by, workspaceId, subject: clientId, details })
      })
      return { clientId, clientSecret }
    },
    async list(workspaceId) {
      return (await storage.read.machines.list(workspaceId)).map(toMachine)
    },
    revoke: (id, workspaceId, by = byCommand()) =>
      storage.write(async (tx) => {
        const row = await tx.machines.lock(id)
        if (!row || (workspaceId !== undefined && row.workspaceId !== workspaceId)) {
          throw new ServiceError('not_found', `there is no machine ${id}`)
        }
        if (row.revokedAt !== null) return toMachine(row)
        await tx.machines.revoke(id, now())
        const details = { name: row.name, made: formatInstant(row.createdAt) }
        const { workspaceId: of } = row
        tx.audit.record({ event: 'machine.revoked', at: now(), by, workspaceId: of, subject: id, details })
        return { ...toMachine(row), revokedAt: now() }
      }),
  }
}

function readAll(scopes: readonly string[]): Scope[] {
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
