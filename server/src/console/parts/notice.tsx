/** What came of the last step: a problem in its own words, or one of the sentences below, named in the address. */
import { sentence } from '../words.tsx'

const DONE: Readonly<Record<string, string>> = {
  'signed-out': 'You are signed out.',
  'password-changed': 'The password is changed. Other sessions are ended.',
  'password-reset':
    'The password is changed, and every other session is ended. Look through your passkeys and connected applications: remove what is not yours.',
  'session-ended': 'The session is ended.',
  connected: 'Connected. The destination answered, and can be read.',
  'connected-warned': 'Connected. The destination answered; see the warning at the connection.',
  'connected-unread':
    'Connected, though the destination could not be read just now. The reason stands at the connection.',
  replaced: 'The credentials are replaced. The destination answered, and can be read with them.',
  'replaced-warned': 'The credentials are replaced. The destination answered; see the warning at the connection.',
  'replaced-unread':
    'The credentials are replaced, though the destination could not be read just now. The reason stands at the connection.',
  disconnected: 'Disconnected. Its credentials are deleted.',
  'key-revoked': 'The key is revoked. It is refused from now on.',
  'application-revoked': 'The application is stopped. Its tokens are worth nothing any more.',
  'sessions-ended': 'All other sessions are ended.',
  'claim-submitted': 'The claim is submitted.',
  'claim-known': 'There was a claim with this client claim ID already: it is shown here, and nothing was submitted.',
  'name-changed': 'The name is changed.',
  'passkey-added': 'The passkey is added. From now on you can sign in with it.',
  'passkey-removed': 'The passkey is removed, and lets nobody in any more.',
  'sign-in-linked': 'The sign-in is linked. From now on you can come in with it.',
  'sign-in-unlinked': 'The sign-in is unlinked, and lets nobody in here any more.',
  'role-changed': 'The role is changed.',
  'member-removed': 'The member is removed.',
  'invitation-withdrawn': 'The invitation is withdrawn.',
}

export interface NoticeProps {
  readonly problem?: string | undefined
  /** A code of the table; anything else says nothing. */
  readonly done?: string | undefined
}

export function Notice({ problem, done }: NoticeProps) {
  if (problem !== undefined) {
    return (
      <p class="notice problem" role="alert">
        {sentence(problem)}
      </p>
    )
  }
  if (done === undefined || !Object.hasOwn(DONE, done)) return null
  return (
    <p class="notice" role="status">
      {DONE[done]}
    </p>
  )
}
