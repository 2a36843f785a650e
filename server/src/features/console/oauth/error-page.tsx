/** The page for an OAuth error that cannot be returned to the application. */

import { renderPage } from '../../../web/document.tsx'
import type { OAuthPages } from '../../oauth/pages.ts'
import { PlainPage } from '../page.tsx'

const REASONS: Readonly<Record<string, string>> = {
  invalid_client: 'This service does not know the application.',
  invalid_redirect_uri: 'The application asked for an answer at an address that is not registered for it.',
  server_error: 'Something went wrong in this service. The operator finds the cause in the log.',
  temporarily_unavailable: 'The service cannot answer just now. Try again in a minute.',
}

export const errorPage: OAuthPages['errorPage'] = ({ code, description }) =>
  renderPage(
    <PlainPage title="This request cannot be answered">
      <p>{REASONS[code] ?? 'The application sent a request that this service cannot answer.'}</p>
      <p class="help">
        Nothing was allowed. Tell the maker of the application: <code>{code}</code>
        {description ? `, ${description}` : ''}
      </p>
    </PlainPage>,
  )
