/** Workspaces: what keys, connections and claims belong to. */
import type { Instant } from '@claimcheck/core'
import { ServiceError } from '../base/errors.ts'
import { newId } from '../base/ids.ts'
import type { Storage } from '../storage/storage.ts'

export interface Workspace {
  readonly id: string
  readonly name: string
  readonly createdAt: Instant
}

export interface WorkspaceService {
  /** Without members. @throws ServiceError `bad_request` for a name that cannot be one, `conflict` for a taken one */
  create(name: string): Promise<Workspace>
  /** By id or name. @throws ServiceError `not_found` */
  find(idOrName: string): Promise<Workspace>
}

// A name starts with no `ws_`, so that it is never taken for an id.
const NAME = /^(?!ws_)[\p{L}\p{N}][\p{L}\p{N} ._-]{0,63}$/u

export function createWorkspaceService({ storage, now }: { storage: Storage; now: () => Instant }): WorkspaceService {
  return {
    async create(name) {
      const workspace = newWorkspace(name, now())
      const inserted = await storage.write((tx) => tx.workspaces.insert(workspace))
      if (!inserted) throw nameTaken(name)
      return workspace
    },
    async find(idOrName) {
      const workspace = await storage.read.workspaces.byIdOrName(idOrName)
      if (!workspace) throw new ServiceError('not_found', `there is no workspace ${idOrName}`)
      return workspace
    },
  }
}

/** Not stored yet. @throws ServiceError `bad_request` */
export function newWorkspace(name: string, at: Instant): Workspace {
  checkWorkspaceName(name)
  return { id: newId('ws_', at), name, createdAt: at }
}

/** @throws ServiceError `bad_request` */
export function checkWorkspaceName(name: string): void {
  if (NAME.test(name)) return
  throw new ServiceError(
    'bad_request',
    'a workspace name has 1 to 64 letters, digits, spaces, dots, dashes or underscores, and begins with a letter or digit (and not with ws_)',
  )
}

export function nameTaken(name: string): ServiceError {
  return new ServiceError('conflict', `there is a workspace named ${name} already`)
}
