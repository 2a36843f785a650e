/**
 * The texts of mails, which are plain text. Subjects are ours alone. Words that people chose, such as names, are quoted, short, within a line, and
 * written so that no mail program makes a link of them: otherwise every invitation and notice would carry the words of an attacker.
 */
import { formatInstant, type Instant } from '@claimcheck/core/rules'
import { visible } from '@claimcheck/core/words/plain-text'

export interface Message {
  readonly subject: string
  readonly text: string
}

const LONGEST_QUOTE = 64
/** Matches an address that mail programs take for one address, and for nothing else. */
const PLAIN_ADDRESS = /^[a-z0-9_+-]+(?:\.[a-z0-9_+-]+)*@(?:[a-z0-9-]+\.)+[a-z]{2,}$/
/** Matches texts before the @ that some programs take for a host: `evil.example` would be a link by itself. A first and a last name do not match. */
const HOST_LIKE = /www|http|ftp|\.(?:com|net|org|info|biz|io|co|app|dev|xyz|online|site|shop|top|link|click|example)$/

function message(subject: string, paragraphs: readonly string[]): Message {
  return { subject, text: `${paragraphs.join('\n\n')}\n` }
}

/** Removes line breaks, which could begin a forged line, and invisible characters. */
export function oneLine(text: string): string {
  return visible(text.replaceAll(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' '))
}

/** Quotes words of people: `“acme”`, `“www[.]example[.]com”`. */
export function quoted(words: string): string {
  // NFKC turns the other dots, slashes and letters that programs read as ours into ours.
  const characters = [...oneLine(words.normalize('NFKC').replaceAll(/[“”"„‟]/g, "'"))]
  const cut = characters.length > LONGEST_QUOTE ? [...characters.slice(0, LONGEST_QUOTE), '…'] : characters
  return `“${cut.join('').replaceAll(/[.。:@/\\]+/g, (marks) => `[${marks}]`)}”`
}

/** Shows an address as people write it, unless a mail program may take it for something else. */
export function shownAddress(address: string): string {
  const isPlain = PLAIN_ADDRESS.test(address) && address.length <= LONGEST_QUOTE
  return isPlain && !HOST_LIKE.test(address.split('@')[0]!) ? address : quoted(address)
}

/** Shortens the reason of another program, for a page and the audit trail. */
export function boundedReason(reason: string): string {
  const line = oneLine(reason).trim()
  return line.length > 200 ? `${line.slice(0, 199)}…` : line
}

export function invitation(invited: {
  readonly workspaceName: string
  readonly inviterEmail: string
  readonly role: 'owner' | 'member'
  readonly link: string
}): Message {
  const { workspaceName, inviterEmail, role, link } = invited
  return message('You are invited to a workspace in Claimcheck', [
    `${shownAddress(inviterEmail)} invites you to a workspace in Claimcheck, as ${role === 'owner' ? 'an owner' : 'a member'}. The name of the workspace is ${quoted(workspaceName)}.`,
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

export function addressLink(link: string): Message {
  return message('Confirm your address for Claimcheck', [
    'An account in Claimcheck was made with this address. If it is yours, sign in to it, and open this link. It works once, for a day:',
    link,
    'If it is not yours, ignore this: the address stays unconfirmed, and gets no other mails.',
  ])
}

interface Notice {
  readonly subject: string
  /** A sentence that tells what happened. Words of people are quoted in it. */
  readonly happened: string
  readonly at: Instant
  /** The network address of the actor; null on the command line. */
  readonly address: string | null
  /** Words that tell what to do, in a notice if the event was not right. */
  readonly advice: string
  readonly link: string
}

export function notice({ subject, happened, at, address, advice, link }: Notice): Message {
  const from = address === null ? 'the command line of the service' : oneLine(address)
  return message(subject, [
    happened,
    `When: ${formatInstant(at)}\nFrom: ${from}`,
    `If this is as it should be, there is nothing to do. If not, ${advice}:\n${link}`,
  ])
}

/** Tells of something that nobody did, and that somebody has to mend. */
export function alert({ subject, happened, at, advice, link }: Omit<Notice, 'address'>): Message {
  return message(subject, [happened, `When: ${formatInstant(at)}`, `${advice}:\n${link}`])
}

/** Adds a note to the last mail that an address gets in a day, so that silence is not taken for quiet. */
export function withLastNote({ subject, text }: Message, most: number, until: Instant): Message {
  const note = `This is mail ${most} of this kind in a day. Until ${formatInstant(until)} there are no more of them, whatever happens: look into the console.`
  return { subject, text: `${text}\n${note}\n` }
}
