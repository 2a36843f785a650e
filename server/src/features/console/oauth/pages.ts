/** What the console gives to the OAuth flow: whether a person is signed in, and the error page. */
import type { HostConfig } from '../../../config/config.ts'
import { paths } from '../../../web/console-paths.ts'
import type { OAuthPages } from '../../oauth/pages.ts'
import type { SessionService } from '../../people/sessions.ts'
import { sessionTokenOf } from '../session.ts'
import { errorPage } from './error-page.tsx'

interface OAuthPagesOptions {
  readonly sessions: Pick<SessionService, 'find'>
  readonly config: Pick<HostConfig, 'publicUrl'>
}

export function createOAuthPages({ sessions, config }: OAuthPagesOptions): OAuthPages {
  return {
    async isSignedIn(cookie) {
      const token = sessionTokenOf(cookie, config.publicUrl)
      return token !== undefined && (await sessions.find(token)) !== undefined
    },
    signInUrl: (next) => `${paths.signIn}?${new URLSearchParams({ next })}`,
    errorPage,
  }
}
