/** Ways to sign in other than a password: a passkey, and the OpenID provider of the operator. */
import type { ComponentChildren } from 'preact'
import { paths } from '../../../web/console-paths.ts'
import { CsrfField, PostForm } from './form.tsx'

interface PasskeyFormProps {
  readonly action: string
  readonly class: string
  /** The call of `navigator.credentials` that the form's script makes. */
  readonly ceremony: 'get' | 'create'
  /** The address from which the script gets the options of WebAuthn. */
  readonly options: string
  readonly children: ComponentChildren
}

/** A form for a passkey, hidden until its script finds that the browser has passkeys. */
export function PasskeyForm({ action, class: className, ceremony, options, children }: PasskeyFormProps) {
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
 * @param children more hidden fields
 */
export function PasskeySignIn({ next, children }: { readonly next: string; readonly children: ComponentChildren }) {
  return (
    <PasskeyForm action={paths.passkeySignIn} class="form way-in" ceremony="get" options={paths.passkeySignInOptions}>
      <input type="hidden" name="next" value={next} />
      {children}
      <button type="submit" class="quiet">
        Sign in with a passkey
      </button>
    </PasskeyForm>
  )
}

interface OidcSignInProps {
  readonly name: string
  readonly next: string
  /** True to sign in in a new tab, so that this page stays, with what was typed in it. */
  readonly inNewTab: boolean
}

export function OidcSignIn({ name, next, inNewTab }: OidcSignInProps) {
  return (
    <PostForm action={paths.oidc} class="form way-in">
      <input type="hidden" name="purpose" value="sign_in" />
      <input type="hidden" name="next" value={next} />
      <button type="submit" class="quiet" formtarget={inNewTab ? '_blank' : undefined}>
        Continue with {name}
        {inNewTab ? ' in a new tab' : null}
      </button>
    </PostForm>
  )
}

interface OidcEntryProps {
  readonly name: string | undefined
  readonly purpose: 'setup' | 'join'
}

/** The form that makes a new account with the provider instead of a password: the provider gives name and e-mail address. */
export function OidcEntry({ name, purpose }: OidcEntryProps) {
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
