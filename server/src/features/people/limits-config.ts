/** The `limits` section of the configuration file: what accounts and workspaces may do in a day. 0: no limit. */
import { type Static, Type } from '@claimcheck/core/plugin'
import type { ConfigSection } from '../../config/section.ts'

export interface DailyLimits {
  /** By accounts that share one allowance. */
  readonly invitationsPerAccount: number
  readonly invitationsPerWorkspace: number
  /** To one address that did not ask for them, from all workspaces. */
  readonly invitationsPerRecipient: number
  /** Of each other kind, to one address. */
  readonly mailsPerRecipient: number
}

export interface LimitsConfig {
  readonly limits: DailyLimits
}

export const DEFAULT_LIMITS: DailyLimits = {
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
    },
  }),
}
