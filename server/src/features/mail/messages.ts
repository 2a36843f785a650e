/** The mails that people get: plain text, with a subject of one line. What other people chose is text within a line, and never begins one. */
import { formatInstant, type Instant } from '@claimcheck/core/rules'
import { visible } from '@claimcheck/core/words/plain-text'

export interface Message {
  readonly subject: string
  readonly text: string
}

const LONGEST_SUBJECT = 150

function message(subject: string, paragraphs: readonly string[]): Message {
  return { subject: oneLine(subject).slice(0, LONGEST_SUBJECT), text: `${paragraphs.join('\n\n')}\n` }
}

/** Names and addresses: without line breaks, which could begin a forged header or line, and without invisible characters. */
export function oneLine(text: string): string {
  return visible(text.replaceAll(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' '))
}

interface Invitation {
  readonly workspaceName: string
  readonly inviterName: string
  readonly role: 'owner' | 'member'
  readonly link: string
}

export function invitation({ workspaceName, inviterName, role, link }: Invitation): Message {
  return message(`${oneLine(inviterName)} invites you to the workspace ${oneLine(workspaceName)}`, [
    `${oneLine(inviterName)} invites you to the workspace ${oneLine(workspaceName)} in Claimcheck, as ${role === 'owner' ? 'an owner' : 'a member'}.`,
    `Open this link to join. It works once, for 7 days:\n${link}`,
    'If you did not expect this, ignore it: nothing happens.',
  ])
}

export function passwordLink(link: string): Message {
  return message('A link to a new password for Claimcheck', [
    'A new password was asked for, for your account in Claimcheck. Open this link to choose one. It works once, for an hour:',
    link,
    'If it was not you, ignore this: your password stays as it is.',
  ])
}

interface Notice {
  readonly subject: string
  /** What happened, in a sentence. */
  readonly happened: string
  readonly at: Instant
  /** The network address; null on the command line. */
  readonly address: string | null
  /** What to do if it was not right, with the place. */
  readonly advice: string
  readonly link: string
}

export function notice({ subject, happened, at, address, advice, link }: Notice): Message {
  const from = address === null ? 'the command line of the service' : oneLine(address)
  return message(subject, [
    oneLine(happened),
    `When: ${formatInstant(at)}\nFrom: ${from}`,
    `If this is as it should be, there is nothing to do. If not, ${advice}:\n${link}`,
  ])
}
