/** Help for a forgotten password. */
import { paths } from '../../../web/console-paths.ts'

/** On the page for signing in. */
export function ForgottenHelp({ sendsMail }: { readonly sendsMail: boolean }) {
  if (sendsMail) {
    return (
      <p class="help">
        <a href={paths.forgotten}>Forgotten your password?</a>
      </p>
    )
  }
  return (
    <p class="help">
      Forgotten your password? Ask the operator of this service for a link to a new one (
      <code>claimcheck user reset EMAIL</code>).
    </p>
  )
}
