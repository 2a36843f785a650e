/** The `limits` section of the configuration file: what accounts and workspaces may do in a day, and what they may have. 0: no limit. */
import { type Static, Type } from '@claimcheck/core/plugin'
import type { ConfigSection } from '../../config/section.ts'

export interface DailyLimits {
  /** By accounts that share one allowance. */
  readonly invitationsPerAccount: number
  readonly invitationsPerWorkspace: number
  /** To one address, from all workspaces; and as many links that confirm it, of accounts that share one allowance. */
  readonly invitationsPerRecipient: number
  /** Of each other kind, to one address. */
  readonly mailsPerRecipient: number
}

export interface Limits extends DailyLimits {
  /** Downloads of claims and audit trails, by accounts that share one allowance. */
  readonly exportsPerAccount: number
  /** Those that are not deleted, of accounts that share one allowance. */
  readonly workspacesPerAccount: number
  /** Those that work; and as many machines. */
  readonly keysPerWorkspace: number
  readonly connectionsPerWorkspace: number
  readonly boundAgentsPerWorkspace: number
}

export interface LimitsConfig {
  readonly limits: Limits
}

export const DEFAULT_LIMITS: Limits = {
  exportsPerAccount: 200,
  workspacesPerAccount: 20,
  keysPerWorkspace: 100,
  connectionsPerWorkspace: 50,
  boundAgentsPerWorkspace: 500,
  invitationsPerAccount: 20,
  invitationsPerWorkspace: 50,
  invitationsPerRecipient: 3,
  mailsPerRecipient: 10,
}

const count = Type.Optional(Type.Integer({ minimum: 0, maximum: 1_000_000 }))

const LimitsSection = Type.Object(
  {
    invitations_per_account: count,
    invitations_per_workspace: count,
    invitations_per_recipient: count,
    mails_per_recipient: count,
    exports_per_account: count,
    workspaces_per_account: count,
    keys_per_workspace: count,
    connections_per_workspace: count,
    bound_agents_per_workspace: count,
  },
  { additionalProperties: false },
)
type LimitsSection = Static<typeof LimitsSection>

export const limitsConfig: ConfigSection<LimitsConfig> = {
  file: { limits: Type.Optional(LimitsSection) },
  read: ({ limits: given = {} }: { readonly limits?: LimitsSection }) => ({
    limits: {
      invitationsPerAccount: given.invitations_per_account ?? DEFAULT_LIMITS.invitationsPerAccount,
      invitationsPerWorkspace: given.invitations_per_workspace ?? DEFAULT_LIMITS.invitationsPerWorkspace,
      invitationsPerRecipient: given.invitations_per_recipient ?? DEFAULT_LIMITS.invitationsPerRecipient,
      mailsPerRecipient: given.mails_per_recipient ?? DEFAULT_LIMITS.mailsPerRecipient,
      exportsPerAccount: given.exports_per_account ?? DEFAULT_LIMITS.exportsPerAccount,
      workspacesPerAccount: given.workspaces_per_account ?? DEFAULT_LIMITS.workspacesPerAccount,
      keysPerWorkspace: given.keys_per_workspace ?? DEFAULT_LIMITS.keysPerWorkspace,
      connectionsPerWorkspace: given.connections_per_workspace ?? DEFAULT_LIMITS.connectionsPerWorkspace,
      boundAgentsPerWorkspace: given.bound_agents_per_workspace ?? DEFAULT_LIMITS.boundAgentsPerWorkspace,
    },
  }),
}
