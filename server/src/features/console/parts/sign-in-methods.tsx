/** Ways to sign in other than a password: a passkey, and the OpenID provider of the operator. */
import type { ComponentChildren } from 'preact'
import { paths } from '../../../web/console-paths.ts'
import { CsrfField, PostForm } from './form.tsx'

interface PasskeySignInProps {
  readonly next: string
  /** More fields. */
  readonly children?: ComponentChildren
}

/** Hidden until its script finds that the browser has passkeys. */
export function PasskeySignIn({ next, children }: PasskeySignInProps) {
  return (
    <form
      method="post"
      action={paths.passkeySignIn}
      class="form way-in"
      data-passkey="get"
      data-options={paths.passkeySignInOptions}
      hidden
    >
      <CsrfField />
      <input type="hidden" name="next" value={next} />
      <input type="hidden" name="credential" />
      {children}
      <button type="submit" class="quiet">
        Sign in with a passkey
      </button>
      <p class="mistake" role="alert" />
    </form>
  )
}

interface OidcSignInProps {
  readonly name: string
  readonly next: string
  /** So that this page stays, with what it holds. */
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

/** In the form of a new account, instead of a password. The provider gives name and e-mail address. */
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
