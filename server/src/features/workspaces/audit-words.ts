/** The audit events of workspaces, each with words that complete "ACTOR ...". */
import type { AuditWords } from '../../base/audit-events.ts'

export const workspaceAuditWords: AuditWords = {
  'agent.released': 'let all keys claim for an agent again',
  'connection.added': 'connected a destination',
  'connection.credentials_replaced': 'replaced credentials of a connection',
  'connection.refresh_refused': 'got no access token for the refresh token of a connection',
  'connection.removed': 'disconnected a destination',
  'connection.renamed': 'renamed a connection',
  'connection.tested': 'tested a connection',
  'key.changed': 'changed an API key',
  'key.created': 'created an API key',
  'key.revoked': 'revoked an API key',
  'key.rotated': 'replaced an API key by a new one',
  'workspace.created': 'made the workspace',
  'workspace.deleted': 'deleted a workspace',
  'workspace.renamed': 'renamed the workspace',
  'workspace.sites_changed': 'changed from which sites scripts may submit claims to a workspace',
}
