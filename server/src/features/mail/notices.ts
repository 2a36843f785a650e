/** Mails about what happened to an account or a workspace. They follow from the entries of the audit trail, in the same transaction. */
import { hash } from 'node:crypto'
import type { OwnAddress } from '../../config/address.ts'
import type { NewAuditEntry } from '../../storage/audit-trail.ts'
import type { Writes } from '../../storage/storage.ts'
import { pathsIn } from '../../web/console-paths.ts'
import { failureInWords } from '../../web/failures.ts'
import { alert, notice, quoted } from './messages.ts'
import type { NewMail, Outbox } from './outbox.ts'

interface NoticeRule {
  /** The recipients: the person of the account, or the owners of the workspace. */
  readonly to: 'person' | 'owners'
  readonly subject: string
  /**
   * Writes a sentence that tells what happened.
   * @param workspace its name, quoted
   */
  happened(entry: NewAuditEntry, workspace: string): string
  readonly advice: string
  readonly path: string | ((workspaceId: string) => string)
  /** True for what nobody did: the mail names no actor. */
  readonly isAlert?: true
  /** The condition for a notice of an entry. */
  readonly when?: (entry: NewAuditEntry, tx: Writes) => boolean | Promise<boolean>
}

const CLOSED: string = 'account.closed'

const KEYS = { to: 'owners', advice: 'revoke it', path: '/console' } as const
const ACCOUNT = {
  to: 'person',
  advice: 'end the sessions that are not yours, remove what you did not add, and choose a new password',
  path: '/console/account',
} as const
const NEW_OWNER = {
  to: 'owners',
  subject: 'A new owner of your Claimcheck workspace',
  advice: 'look at its members, and remove who does not belong there',
  path: '/console',
} as const

const CONNECTION = { to: 'owners', path: (id: string) => pathsIn(id).connections, isAlert: true } as const

const named = ({ details = {}, subject }: NewAuditEntry) => quoted(String(details.name ?? subject ?? ''))

const originIn = ({ details = {} }: NewAuditEntry) => quoted(String(details.origin ?? ''))

const RULES: Readonly<Record<string, NoticeRule>> = {
  'sign_in.succeeded': {
    ...ACCOUNT,
    subject: 'A new sign-in to your Claimcheck account',
    happened: () => 'Your account was signed in to with a browser, or from a network, that was not seen before.',
    when: isNewBrowser,
  },
  'passkey.added': {
    ...ACCOUNT,
    subject: 'A passkey was added to your Claimcheck account',
    happened: (entry) => `The passkey ${named(entry)} was added to your account. It can sign in now.`,
  },
  'passkey.removed': {
    ...ACCOUNT,
    subject: 'A passkey was removed from your Claimcheck account',
    happened: (entry) => `The passkey ${named(entry)} was removed from your account. It no longer signs in.`,
  },
  'identity.linked': {
    ...ACCOUNT,
    subject: 'An outside sign-in was linked to your Claimcheck account',
    happened: () => 'A sign-in at an OpenID provider was linked to your account. It can sign in now.',
  },
  'second_step.on': {
    ...ACCOUNT,
    subject: 'A second step was switched on for your Claimcheck account',
    happened: () => 'Signing in with your password asks for a code now.',
  },
  'second_step.off': {
    ...ACCOUNT,
    subject: 'The second step of your Claimcheck account was switched off',
    happened: () => 'Your password alone signs in now.',
  },
  'second_step.codes_replaced': {
    ...ACCOUNT,
    subject: 'Your Claimcheck account has new recovery codes',
    happened: () => 'New recovery codes were made for your account. The earlier ones no longer work.',
  },
  'password.changed': {
    ...ACCOUNT,
    subject: 'Your Claimcheck password was changed',
    happened: () => 'The password of your account was changed.',
    advice: 'ask for a link to a new password on the page for signing in, or ask the operator of the service',
  },
  'password.chosen': {
    ...ACCOUNT,
    subject: 'Your Claimcheck account has a password now',
    happened: () => 'A first password was chosen for your account. It can sign in now.',
  },
  'password.reset': {
    ...ACCOUNT,
    subject: 'Your Claimcheck password was changed with a link',
    happened: () =>
      'A new password was chosen for your account with a link that was sent to you or that the operator made.',
    advice: 'ask the operator of the service at once, and ask for a link to a new password on the page for signing in',
  },
  'key.created': {
    ...KEYS,
    subject: 'A new API key in your Claimcheck workspace',
    happened: (entry, workspace) => `The API key ${named(entry)} was made in the workspace ${workspace}.`,
  },
  'key.rotated': {
    ...KEYS,
    subject: 'An API key of your Claimcheck workspace was replaced',
    happened: (entry, workspace) =>
      `The API key ${named(entry)} of the workspace ${workspace} was replaced by a new one that is held to the same.`,
  },
  'machine.created': {
    ...KEYS,
    subject: 'A new machine in your Claimcheck workspace',
    happened: (entry, workspace) => `The machine ${named(entry)} can get tokens for the workspace ${workspace} now.`,
  },
  'connection.failing': {
    ...CONNECTION,
    subject: 'A connection of your Claimcheck workspace cannot be read',
    happened: (entry, workspace) =>
      `The connection ${named(entry)} of the workspace ${workspace} cannot be read: ${failureInWords(String(entry.details?.failure))}. Claims that need it wait until their deadline, and are unverifiable then. There is no other mail about this until it is read again.`,
    advice: 'Look at the connections of the workspace, which say what to do',
  },
  'connection.recovered': {
    ...CONNECTION,
    subject: 'A connection of your Claimcheck workspace is read again',
    happened: (entry, workspace) => `The connection ${named(entry)} of the workspace ${workspace} is read again.`,
    advice: 'There is nothing to do. The connections of the workspace',
  },
  'connection.expiring': {
    ...CONNECTION,
    subject: 'Credentials in your Claimcheck workspace end soon',
    happened: (entry, workspace) =>
      `The credentials of the connection ${named(entry)} of the workspace ${workspace} end on ${entry.details?.expires_at}. Claims that need it cannot be verified after that.`,
    advice: 'Replace the credentials before, among the connections of the workspace',
  },
  'webhook.added': {
    to: 'owners',
    advice: 'remove it',
    path: '/console',
    subject: 'A new webhook in your Claimcheck workspace',
    happened: (entry, workspace) => `What happens in the workspace ${workspace} is sent to ${originIn(entry)} now.`,
  },
  'webhook.switched_off': {
    to: 'owners',
    path: '/console',
    isAlert: true,
    advice: 'Mend its receiver, and switch it on again',
    subject: 'A webhook of your Claimcheck workspace was switched off',
    happened: (entry, workspace) =>
      `The webhook of the workspace ${workspace} to ${originIn(entry)} was switched off: ${
        entry.details?.reason === 'gone' ? 'its receiver answered that it is gone' : 'nothing arrived for three days'
      }. Events wait.`,
    when: ({ by }) => by.actor.kind === 'service',
  },
  'webhook.changed': {
    to: 'owners',
    advice: 'change it back, or remove it',
    path: '/console',
    subject: 'A webhook of your Claimcheck workspace sends elsewhere',
    happened: ({ details = {} }, workspace) =>
      `What happens in the workspace ${workspace} is sent to ${quoted(String(details.origin))} now.`,
    when: ({ details = {} }) => details.moved === true,
  },
  'member.joined': {
    ...NEW_OWNER,
    happened: (_, workspace) => `A new owner joined the workspace ${workspace}.`,
    when: ({ details = {} }) => details.role === 'owner',
  },
  'member.role_changed': {
    ...NEW_OWNER,
    happened: (_, workspace) => `A member of the workspace ${workspace} was made an owner.`,
    when: ({ details = {} }) => details.to === 'owner',
  },
}

export type Notices = ReturnType<typeof createNotices>

export function createNotices({
  outbox,
  ownAddress,
}: {
  outbox: Pick<Outbox, 'add' | 'isOn'>
  ownAddress: OwnAddress
}) {
  async function mailsAbout(tx: Writes, entry: NewAuditEntry): Promise<readonly NewMail[]> {
    const { event, at, by, workspaceId } = entry
    const rule = Object.hasOwn(RULES, event) ? RULES[event]! : undefined
    if (!rule || (await rule.when?.(entry, tx)) === false) return []
    const recipients = await recipientsOf(tx, rule, entry)
    if (recipients.length === 0) return []
    const workspace = workspaceId ? await tx.workspaces.byIdOrName(workspaceId) : undefined
    const { subject, advice, isAlert } = rule
    const path = typeof rule.path === 'string' ? rule.path : rule.path(workspaceId!)
    const told = {
      subject,
      happened: rule.happened(entry, quoted(workspace?.name ?? '')),
      at,
      advice,
      link: ownAddress.url() + path,
    }
    const message = isAlert ? alert(told) : notice({ ...told, address: by.address })
    return [...new Set(recipients)].map((recipient) => ({ kind: event, recipient, message }))
  }

  return {
    async queue(tx: Writes, entries: readonly NewAuditEntry[]): Promise<void> {
      if (!outbox.isOn) return
      const mails: NewMail[] = []
      for (const entry of entries) {
        if (entry.event === CLOSED && entry.userId) await tx.mails.forgetBrowsers(entry.userId)
        mails.push(...(await mailsAbout(tx, entry)))
      }
      // All mails are added at once, so that their counts are taken in one order.
      if (mails.length > 0) await outbox.add(tx, mails)
    },
  }
}

/** Tells whether the session that this sign-in began is with a browser, by name and system, and from a network that were not seen together before. */
async function isNewBrowser({ userId, subject, at, by }: NewAuditEntry, tx: Writes): Promise<boolean> {
  const sessions = userId ? await tx.sessions.ofUser(userId, at) : []
  const session = sessions.find(({ id }) => id === subject)
  if (!userId || !session) return false
  const kind = session.userAgent.replaceAll(/[\d._]+/g, '')
  const browser = hash('sha256', JSON.stringify([userId, kind, wideNetworkOf(by.address ?? '')]))
  return tx.mails.isNewBrowser(userId, browser, at)
}

/** Returns a network so wide that a provider's change of address is no news: three bytes of IPv4, three groups of IPv6. */
function wideNetworkOf(address: string): string {
  const plain = address.replace(/^::ffff:(?=\d+\.)/i, '')
  return plain.split(plain.includes(':') ? ':' : '.', 3).join('.')
}

/** Returns confirmed addresses alone: others may be those of other people. */
async function recipientsOf(tx: Writes, { to }: NoticeRule, { userId, workspaceId }: NewAuditEntry): Promise<string[]> {
  if (to === 'person') {
    const user = userId ? await tx.users.byId(userId) : undefined
    return user && user.confirmedAt !== null ? [user.email] : []
  }
  const members = workspaceId ? await tx.members.ofWorkspace(workspaceId) : []
  return members.filter(({ role, isConfirmed }) => role === 'owner' && isConfirmed).map(({ email }) => email)
}
