/** The pages that the OAuth flow gets from the console: the sign-in, and the page for an error that no application can be told. */
import type { HostConfig } from '../../../config/config.ts'
import { paths } from '../../../web/console-paths.ts'
import { renderPage } from '../../../web/document.tsx'
import type { OAuthPages } from '../../oauth/pages.ts'
import type { SessionService } from '../../people/sessions.ts'
import { PlainPage } from '../page.tsx'
import { sessionTokenOf } from '../session.ts'

const REASONS: Readonly<Record<string, string>> = {
  invalid_client: 'This service does not know the application.',
  invalid_redirect_uri: 'The application asked for an answer at an address that is not registered for it.',
  server_error: 'Something went wrong in this service. The operator finds the cause in the log.',
  temporarily_unavailable: 'The service cannot answer just now. Try again in a minute.',
}

export function createOAuthPages({
  sessions,
  config,
}: {
  readonly sessions: Pick<SessionService, 'find'>
  readonly config: Pick<HostConfig, 'publicUrl'>
}): OAuthPages {
  return {
    async isSignedIn(cookie) {
      const token = sessionTokenOf(cookie, config.publicUrl)
      return token !== undefined && (await sessions.find(token)) !== undefined
    },
    signInUrl: (next) => `${paths.signIn}?${new URLSearchParams({ next })}`,
    errorPage: ({ code, description }) =>
      renderPage(
        <PlainPage title="This request cannot be answered">
          <p>{REASONS[code] ?? 'The application sent a request that this service cannot answer.'}</p>
          <p class="help">
            Nothing was allowed. Tell the maker of the application: <code>{code}</code>
            {description ? `, ${description}` : ''}
          </p>
        </PlainPage>,
      ),
  }
}
