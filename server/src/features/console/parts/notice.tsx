/** The result of the last form: a problem, or one of the sentences below, which the address names by code. */
import { sentence } from '../../../web/words.tsx'

const DONE: Readonly<Record<string, string>> = {
  'address-asked': 'The link is on its way. It works for a day.',
  'address-confirmed': 'Your address is confirmed.',
  'account-closed': 'Your account is closed.',
  'signed-out': 'You are signed out.',
  'password-changed': 'Your password is changed. Your other sessions and your connected applications are ended.',
  'password-reset':
    'Your password is changed. All other sessions and connected applications are ended. API keys that this account made still work: look through them under Developers.',
  'second-step-off': 'Your second step is off. Your connected applications are ended.',
  'payer-changed': 'You pay for what this workspace uses from now on.',
  'sign-in-rule-changed': 'From now on members need this kind of sign-in here.',
  'session-ended': 'The session is ended.',
  connected: 'Connected. It works: the destination was read through it.',
  'connected-warned': 'Connected. It works, but see the warning at the connection.',
  'connected-ambiguous':
    'Connected. The same claim can fit this connection and another one, and then cannot be verified: see the warning at the connection.',
  'connected-reached':
    'Connected, but not tried: the destination answers, and nothing shows yet that it can be read. Name something to try at the connection.',
  'connected-unread': 'Connected, but the destination could not be read just now: see the reason at the connection.',
  replaced: 'The credentials are replaced, and they work.',
  'replaced-warned': 'The credentials are replaced, and they work, but see the warning at the connection.',
  'replaced-reached':
    'The credentials are replaced, but not tried: nothing shows yet that they work. Name something to try at the connection.',
  'replaced-unread':
    'The credentials are replaced, but the destination could not be read just now: see the reason at the connection.',
  'connection-works': 'Tested: it works.',
  'connection-reached':
    'Tested: the destination answers, but nothing shows that it can be read. Name something to try.',
  'connection-refused': 'Tested: the destination refuses it. What to do is at the connection.',
  'connection-hidden': 'Tested: what was tried is not there, or these credentials may not see it.',
  'connection-failed': 'Tested: the destination could not be read just now. The reason is at the connection.',
  'connection-renamed': 'The connection is renamed.',
  'workspace-renamed': 'The workspace is renamed.',
  'retention-changed': 'Changed: the page says what holds now.',
  'silence-changed': 'Changed: the page says of what the workspace is told.',
  'revisits-changed': 'Changed: the page says what holds now.',
  'revisit-asked': 'The claim is looked at again. The page says what came of it, in some minutes.',
  'hints-ended': 'Hints are switched off. Messages at their address change nothing from now on.',
  disconnected: 'Disconnected. Its credentials are deleted.',
  'key-changed': 'The key is changed. Its next request is held to what you set.',
  'agent-released': 'The agent is released. Every key that is not bound to other agents may claim for it now.',
  'sites-changed': 'Changed: scripts of these sites, and of no others, may submit claims.',
  'domain-changed': 'Saved: the page says what DNS shows.',
  'webhook-added': 'The webhook is added. Send a test to see whether it arrives.',
  'report-added': 'Reports are set up. Send a test to see whether the first repository is there for them.',
  'webhook-changed': 'The webhook is changed.',
  'webhook-on': 'The webhook is on. It goes on where it stopped.',
  'webhook-off': 'The webhook is off. Events wait until you switch it on.',
  'webhook-removed': 'The webhook is removed. Nothing more is sent to it.',
  'delivery-sent': 'The delivery is sent again.',
  'key-revoked': 'The key is revoked. Requests with it are refused from now on.',
  'application-revoked': 'The application is stopped. Its tokens no longer work.',
  'machine-revoked': 'The machine is revoked. Its tokens no longer work.',
  'sessions-ended': 'All other sessions are ended.',
  'claim-submitted': 'The claim is submitted.',
  'claim-known': 'Nothing was submitted: the claim with this idempotency key exists already, and is shown here.',
  'name-changed': 'The name is changed.',
  'passkey-added': 'The passkey is added. You can sign in with it now.',
  'passkey-removed': 'The passkey is removed. It no longer signs in.',
  'sign-in-linked': 'The sign-in is linked. You can use it now.',
  'sign-in-unlinked': 'The sign-in is unlinked. It no longer signs in here.',
  'role-changed': 'The role is changed.',
  'member-removed': 'The member is removed.',
  'invitation-withdrawn': 'The invitation is withdrawn.',
}

/**
 * The notice.
 * @param done the code of a notice. Values that are not in the table show nothing
 */
export function Notice({ problem, done }: { problem?: string; done?: string }) {
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
