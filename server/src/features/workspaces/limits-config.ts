/** The `limits` section of the configuration file: what accounts and workspaces may do in a day, and what they may have. 0: no limit. */
import type { ConfigSection } from '../../config/section.ts'
import { LIMIT, settings } from '../../config/settings.ts'

export interface DailyLimits {
  /** Invitations by accounts that share one allowance. */
  readonly invitationsPerAccount: number
  readonly invitationsPerWorkspace: number
  /** Invitations to one address, from all workspaces; also links that confirm it, of accounts that share one allowance. */
  readonly invitationsPerRecipient: number
  /** Mails of each other kind to one address. */
  readonly mailsPerRecipient: number
}

export interface Limits extends DailyLimits {
  /** Downloads of claims and audit trails, by accounts that share one allowance. */
  readonly exportsPerAccount: number
  /** Workspaces that are not deleted, of accounts that share one allowance. */
  readonly workspacesPerAccount: number
  /** Keys that work; and as many machines. */
  readonly keysPerWorkspace: number
  readonly connectionsPerWorkspace: number
  readonly boundAgentsPerWorkspace: number
}

export interface LimitsConfig {
  readonly limits: Limits
}

const limits = settings<Limits>({
  invitationsPerAccount: ['invitations_per_account', LIMIT, 20],
  invitationsPerWorkspace: ['invitations_per_workspace', LIMIT, 50],
  invitationsPerRecipient: ['invitations_per_recipient', LIMIT, 3],
  mailsPerRecipient: ['mails_per_recipient', LIMIT, 10],
  exportsPerAccount: ['exports_per_account', LIMIT, 200],
  workspacesPerAccount: ['workspaces_per_account', LIMIT, 20],
  keysPerWorkspace: ['keys_per_workspace', LIMIT, 100],
  connectionsPerWorkspace: ['connections_per_workspace', LIMIT, 50],
  boundAgentsPerWorkspace: ['bound_agents_per_workspace', LIMIT, 500],
})

export const DEFAULT_LIMITS = limits.defaults

export const limitsConfig: ConfigSection<LimitsConfig> = {
  file: { limits: limits.schema },
  read: (file) => ({ limits: limits.read(file.limits) }),
}
