/** The `limits` section of the configuration file: the most that accounts and workspaces may do in a day, and may have; 0 is no limit. */
import type { MembersOf } from '../../config/section.ts'
import { LIMIT, settingsSection } from '../../config/settings.ts'

export const limitsConfig = settingsSection({
  limits: {
    /** The most invitations in a day by accounts that share one allowance. */
    invitationsPerAccount: [LIMIT, 20],
    invitationsPerWorkspace: [LIMIT, 50],
    /** The most invitations in a day to one address, from all workspaces; also of links that confirm it, by accounts that share one allowance. */
    invitationsPerRecipient: [LIMIT, 3],
    /** The most mails of each other kind in a day to one address. */
    mailsPerRecipient: [LIMIT, 10],
    /** The most downloads in a day of claims and audit trails, by accounts that share one allowance. */
    exportsPerAccount: [LIMIT, 200],
    /** The most workspaces that are not deleted, of accounts that share one allowance. */
    workspacesPerAccount: [LIMIT, 20],
    /** The most keys that work, and the most machines, of a workspace. */
    keysPerWorkspace: [LIMIT, 100],
    connectionsPerWorkspace: [LIMIT, 50],
    boundAgentsPerWorkspace: [LIMIT, 500],
    webhooksPerWorkspace: [LIMIT, 10],
  },
})

export type LimitsConfig = MembersOf<typeof limitsConfig>
export type Limits = LimitsConfig['limits']

export const DEFAULT_LIMITS: Limits = limitsConfig.defaults.limits
