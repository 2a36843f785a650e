/** Other ways in than a password: a passkey, and the provider that the operator chose. */
import { paths } from '../paths.ts'
import { PostForm } from './form.tsx'

/** Shown by its script, where the browser knows passkeys. */
export function PasskeySignIn({ next }: { readonly next: string }) {
  return (
    <form
      method="post"
      action={paths.passkeySignIn}
      class="form way-in"
      data-passkey="get"
      data-options={paths.passkeySignInOptions}
      hidden
    >
      <input type="hidden" name="next" value={next} />
      <input type="hidden" name="credential" />
      <button type="submit" class="quiet">
        Sign in with a passkey
      </button>
      <p class="mistake" role="alert" />
    </form>
  )
}

export function OidcSignIn({ name, next }: { readonly name: string; readonly next: string }) {
  return (
    <PostForm action={paths.oidc} class="form way-in">
      <input type="hidden" name="purpose" value="sign_in" />
      <input type="hidden" name="next" value={next} />
      <button type="submit" class="quiet">
        Continue with {name}
      </button>
    </PostForm>
  )
}

interface OidcEntryProps {
  readonly name: string | undefined
  readonly purpose: 'setup' | 'join'
}

/** Within the form of a new account, in place of its password: who somebody is comes from the provider. */
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
