/** The offline checker: one file that works from a disk, with script and style in its page. Its policy forbids it every network. */
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { VERSION } from '../../../base/version.ts'
import { renderPage } from '../../../web/document.tsx'
import { Logo } from '../../../web/parts/icons.tsx'

/** The file to which the build writes the checker. */
export const CHECKER_FILE = new URL('../../../check.html', import.meta.url)

export function checkerFile(): string {
  // A script ends in HTML at this text, whatever it means in the script.
  const script = read('../../../browser/checker.js').replace(/<(\/?script|!--)/gi, '\\x3c$1')
  const style = read('../../../assets/pages.css')
  return renderPage(<CheckerPage script={script} style={style} />)
}

function read(path: string): string {
  return readFileSync(new URL(path, import.meta.url), 'utf8')
}

function CheckerPage({ script, style }: { script: string; style: string }) {
  const allow = (text: string) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`
  const policy = `default-src 'none'; script-src ${allow(script)}; style-src ${allow(style)}; base-uri 'none'; form-action 'none'`
  return (
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta http-equiv="Content-Security-Policy" content={policy} />
        <title>Offline checker · Claimcheck</title>
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <style dangerouslySetInnerHTML={{ __html: style }} />
      </head>
      <body>
        <header class="bar">
          <span class="brand">
            <Logo /> Claimcheck
          </span>
        </header>
        <main id="main" tabIndex={-1}>
          <h1>Check a receipt without a network</h1>
          <p>
            Drop the files here: a receipt and what its issuer publishes about it (keys, evidence, tree head), or the
            one file with all of it that the page of a receipt offers; or the file in which a log contradicts itself.
            This page sends nothing anywhere: its policy forbids it.
          </p>
          <form id="give" class="give">
            <p>
              <label for="files">Files</label>
              <input id="files" type="file" multiple accept=".json,application/json" />
            </p>
            <p>
              <label for="pasted">Or paste one document</label>
              <textarea id="pasted" rows={4} spellcheck={false} />
            </p>
            <fieldset>
              <legend>What vouches for the key</legend>
              <p>
                <label for="pin">The key that must have signed it</label>
                <input id="pin" size={52} placeholder="ed25519:..." spellcheck={false} autocomplete="off" />
              </p>
              <p>
                <label for="trusted">Or the issuer’s key document, which you fetched from the issuer yourself</label>
                <input id="trusted" type="file" accept=".json,application/json" />
              </p>
              <p class="help">
                Get one of them from a person you trust, not from the sender of the receipt: a sender of both can put in
                a key that they made. Without either, nothing shows who holds the key that signed the receipt.
              </p>
            </fieldset>
            <p>
              <button type="submit">Check</button>{' '}
              <button type="reset" class="quiet">
                Start again
              </button>
            </p>
          </form>
          <ul id="have" aria-label="Documents" />
          <div id="result" aria-live="polite" />
          <p class="help">
            Claimcheck {VERSION}. In the browser’s console, <code>claimcheck</code> has the functions of
            @claimcheck/core/checker.
          </p>
        </main>
        <script type="module" dangerouslySetInnerHTML={{ __html: script }} />
      </body>
    </html>
  )
}
