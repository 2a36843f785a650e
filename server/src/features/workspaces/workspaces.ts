/** Workspaces, which own keys, connections and claims. */
import type { Instant } from '@claimcheck/core/rules'
import { type Acting, byCommand } from '../../base/actor.ts'
import { ServiceError } from '../../base/errors.ts'
import { newId } from '../../base/ids.ts'
import { lookAlike, looksOf } from '../../names/confusables.ts'
import { idProblem } from '../../names/names.ts'
import type { Storage, Writes } from '../../storage/storage.ts'
import type { WorkspaceRow } from '../../storage/workspaces.ts'
import { countingTakenNames, NameTakenError } from './guesses.ts'

export interface Workspace {
  readonly id: string
  readonly name: string
  /** The account that pays for the workspace; null if the command line made it. */
  readonly paidBy: string | null
  readonly createdAt: Instant
}

const NAME = /^[\p{L}\p{N}](?:[\p{L}\p{M}\p{N} ._-]|\u200c|\u200d){0,63}$/u
/** The look of an id's beginning: a name that begins so could be mistaken for an id. */
const LIKE_ID = looksOf('ws_')[0]!

export type WorkspaceService = ReturnType<typeof createWorkspaceService>

/** Makes the service of workspaces. Each `by` is the actor; by default the command line. */
export function createWorkspaceService({ storage, now }: { storage: Storage; now: () => Instant }) {
  /**
   * Finds a workspace by its id or its name.
   * @throws ServiceError `not_found`
   */
  async function find(idOrName: string): Promise<Workspace> {
    const workspace = await storage.read.workspaces.byIdOrName(idOrName)
    if (!workspace) throw new ServiceError('not_found', `there is no workspace ${idOrName}`)
    return workspace
  }

  return {
    /**
     * Creates a workspace, which has no members yet.
     * @throws ServiceError `bad_request` for an invalid name, `conflict` for a name that another workspace has
     */
    async create(name: string, by: Acting = byCommand()): Promise<Workspace> {
      const workspace = newWorkspace(name, null, now())
      await storage.write((tx) => insertWorkspace(tx, workspace, by))
      return workspace
    },
    find,
    /**
     * Finds the id of a workspace; undefined stays undefined, and stands for all workspaces.
     * @throws ServiceError `not_found`
     */
    findId: async (idOrName: string | undefined): Promise<string | undefined> =>
      idOrName === undefined ? undefined : (await find(idOrName)).id,
    /**
     * Renames a workspace.
     * @throws ServiceError `bad_request` and `conflict`, as `create` does; `too_many` for a person who tried many taken names
     */
    async rename(id: string, name: string, by: Acting = byCommand()): Promise<void> {
      checkWorkspaceName(name)
      const rename = async (tx: Writes) => {
        // Locks are taken in the order in which deleting a workspace takes them.
        await requireWorkspace(tx, id)
        await refuseName(tx, id, name)
        const before = await tx.workspaces.byIdOrName(id)
        if (!(await tx.workspaces.rename(id, name))) throw new NameTakenError(name)
        if (before?.name === name) return
        const details = { from: before?.name ?? null, to: name }
        tx.audit.record({ event: 'workspace.renamed', at: now(), by, workspaceId: id, subject: id, details })
      }
      await countingTakenNames(storage, by, now(), () => storage.write(rename))
    },
    /**
     * Deletes a workspace, with everything in it but its claims: those that wait are decided as ever, and receipts stay where they are. Its name is
     * free again.
     * @throws ServiceError `not_found`
     */
    delete: (id: string, by: Acting = byCommand()): Promise<void> =>
      storage.write((tx) => deleteWorkspace(tx, id, now, by)),
  }
}

/**
 * Locks a workspace until the transaction ends, so that nothing comes into one that is being deleted.
 * @throws ServiceError `not_found`
 */
export async function requireWorkspace(tx: Writes, id: string): Promise<WorkspaceRow> {
  const row = await tx.workspaces.lock(id)
  if (row) return row
  throw new ServiceError('not_found', `there is no workspace ${id}`)
}

/**
 * Deletes a workspace within a transaction.
 * @throws ServiceError `not_found`
 */
export async function deleteWorkspace(tx: Writes, id: string, now: () => Instant, by: Acting): Promise<void> {
  const { name } = await requireWorkspace(tx, id)
  // The time is taken once the workspace is locked: nothing is revoked at a time before it was made.
  const at = now()
  const members = await tx.members.ofWorkspace(id)
  await tx.records.removeGrantsOf(members.map((member) => member.id))
  await tx.links.endAll({ kind: 'invitation', workspaceId: id }, at)
  await tx.keys.revokeAll(id, at)
  await tx.machines.revokeAll(id, at)
  await tx.connections.disconnectAll(id, at)
  await tx.allowedOrigins.set(id, [], at)
  await tx.holders.removeDomain(id)
  await tx.agentWatch.endSilence(id)
  await tx.revisits.removeWaiting(id)
  await tx.webhooks.removeTargets(
    (await tx.webhooks.targets(id)).map((target) => target.id),
    at,
  )
  await tx.members.removeAll(id)
  await tx.workspaces.delete(id, at)
  tx.audit.record({ event: 'workspace.deleted', at, by, workspaceId: id, subject: id, details: { name } })
}

/**
 * Makes the row of a workspace without storing it.
 * @param paidBy the account that makes it, and pays for it; null for the command line
 * @throws ServiceError `bad_request`
 */
export function newWorkspace(name: string, paidBy: string | null, at: Instant): Workspace {
  checkWorkspaceName(name)
  return { id: newId('ws_', at), name, paidBy, createdAt: at }
}

/**
 * Stores a workspace.
 * @throws ServiceError `conflict` for a name that another workspace has, or that looks like it
 */
export async function insertWorkspace(tx: Writes, workspace: Workspace, by: Acting): Promise<void> {
  const { id, name, createdAt } = workspace
  await refuseName(tx, id, name)
  if (!(await tx.workspaces.insert(workspace))) throw new NameTakenError(name)
  tx.audit.record({ event: 'workspace.created', at: createdAt, by, workspaceId: id, subject: id, details: { name } })
}

/**
 * Checks the name of a workspace.
 * @throws ServiceError `bad_request`
 */
export function checkWorkspaceName(name: string): void {
  const problem = idProblem(name)
  if (problem !== undefined) throw new ServiceError('bad_request', `the workspace name is not valid: ${problem}`)
  if (NAME.test(name) && !looksOf(name).some((look) => look.startsWith(LIKE_ID))) return
  throw new ServiceError(
    'bad_request',
    'the workspace name is not valid: use 1 to 64 letters, digits, spaces, dots, dashes or underscores, begin with a letter or digit, and not with ws_',
  )
}

/**
 * Refuses a name that looks like that of another workspace.
 * @throws ServiceError `conflict`
 */
async function refuseName(tx: Writes, id: string, name: string): Promise<void> {
  if (lookAlike(name, await tx.workspaces.lockNames(id)) !== undefined) throw new NameTakenError(name)
}
