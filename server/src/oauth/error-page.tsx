/** What a browser is shown where the flow cannot go on, and cannot be led back to the application either. */
import type { ErrorOut, KoaContextWithOIDC } from 'oidc-provider'
import { PlainPage, renderPage } from '../console/page.tsx'

const REASONS: Readonly<Record<string, string>> = {
  invalid_client: 'The application is not known here.',
  invalid_redirect_uri: 'The application asked to be answered at an address that does not belong to it.',
  server_error: 'Something went wrong here. It is in our log.',
  temporarily_unavailable: 'The service cannot answer just now.',
}

export async function errorPage(ctx: KoaContextWithOIDC, out: ErrorOut): Promise<void> {
  const { error, error_description: description } = out
  ctx.type = 'html'
  ctx.body = renderPage(
    <PlainPage title="This request cannot be answered">
      <p>{REASONS[error] ?? 'The application sent something that cannot be answered.'}</p>
      <p class="help">
        Nothing was allowed. Whoever makes the application will want to know: <code>{error}</code>
        {description ? `, ${description}` : ''}
      </p>
    </PlainPage>,
  )
}
