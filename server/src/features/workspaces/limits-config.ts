/** The `limits` section of the configuration file: the most that accounts and workspaces may do in a day, and may have; 0 is no limit. */
import type { ConfigSection } from '../../config/section.ts'
import { LIMIT, settings } from '../../config/settings.ts'

export interface DailyLimits {
  /** The most invitations in a day by accounts that share one allowance. */
  readonly invitationsPerAccount: number
  readonly invitationsPerWorkspace: number
  /** The most invitations in a day to one address, from all workspaces; also of links that confirm it, by accounts that share one allowance. */
  readonly invitationsPerRecipient: number
  /** The most mails of each other kind in a day to one address. */
  readonly mailsPerRecipient: number
}

export interface Limits extends DailyLimits {
  /** The most downloads in a day of claims and audit trails, by accounts that share one allowance. */
  readonly exportsPerAccount: number
  /** The most workspaces that are not deleted, of accounts that share one allowance. */
  readonly workspacesPerAccount: number
  /** The most keys that work, and the most machines, of a workspace. */
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
