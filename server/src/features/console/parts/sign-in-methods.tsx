/** Ways to sign in other than a password: a passkey, and the OpenID provider of the operator. */
import type { ComponentChildren } from 'preact'
import { paths } from '../../../web/console-paths.ts'
import { CsrfField, PostForm } from './form.tsx'

/**
 * A form for a passkey, hidden until its script finds that the browser has passkeys.
 * @param ceremony the call of `navigator.credentials` that the script makes
 * @param options the address from which the script gets the options of WebAuthn
 */
export function PasskeyForm({
  action,
  class: className,
  ceremony,
  options,
  children,
}: {
  action: string
  class: string
  ceremony: 'get' | 'create'
  options: string
  children: ComponentChildren
}) {
  return (
    <form method="post" action={action} class={className} data-passkey={ceremony} data-options={options} hidden>
      <CsrfField />
      <input type="hidden" name="credential" />
      {children}
      <p class="mistake" role="alert" />
    </form>
  )
}

/**
 * The form for signing in with a passkey.
 * @param children hidden fields
 */
export function PasskeySignIn({ children }: { children: ComponentChildren }) {
  return (
    <PasskeyForm action={paths.passkeySignIn} class="form way-in" ceremony="get" options={paths.passkeySignInOptions}>
      {children}
      <button type="submit" class="quiet">
        Sign in with a passkey
      </button>
    </PasskeyForm>
  )
}

/**
 * The form for signing in with the provider.
 * @param inNewTab true to sign in in a new tab, so that this page stays, with what was typed in it
 */
export function OidcSignIn({ name, next, inNewTab }: { name: string; next: string; inNewTab: boolean }) {
  return (
    <PostForm action={paths.oidc} class="form way-in">
      <input type="hidden" name="purpose" value="sign_in" />
      <input type="hidden" name="next" value={next} />
      <button type="submit" class="quiet" formtarget={inNewTab ? '_blank' : undefined}>
        Continue with {name}
        {inNewTab && ' in a new tab'}
      </button>
    </PostForm>
  )
}

/** The form that makes a new account with the provider instead of a password: the provider gives name and e-mail address. */
export function OidcEntry({ name, purpose }: { name: string | undefined; purpose: 'setup' | 'join' }) {
  if (name === undefined) return null
  return (
    <div class="way-in">
      <button type="submit" class="quiet" name="purpose" value={purpose} formaction={paths.oidc} formnovalidate>
        Continue with {name}
      </button>
      <p class="help">Your name and e-mail address come from there.</p>
    </div>
  )
}
