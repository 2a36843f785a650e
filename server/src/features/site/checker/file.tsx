/** Puts the offline checker together from what the build made: script and style go into the page. */
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { VERSION } from '../../../base/version.ts'
import { renderPage } from '../../../web/document.tsx'
import { CheckerPage } from './page.tsx'

/** Where the build writes it. */
export const CHECKER_FILE = new URL('../../../check.html', import.meta.url)

const STYLES = ['console.css', 'receipt.css'] as const

export function checkerFile(): string {
  // Within HTML, this text would end the script, whatever it means in the script.
  const script = read('../../../browser/checker.js').replace(/<(\/?script|!--)/gi, '\\x3c$1')
  const style = STYLES.map((name) => read(`../../../assets/${name}`)).join('\n')
  return renderPage(<CheckerPage script={script} style={style} policy={policyFor(script, style)} version={VERSION} />)
}

function policyFor(script: string, style: string): string {
  const allow = (text: string) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`
  return `default-src 'none'; script-src ${allow(script)}; style-src ${allow(style)}; base-uri 'none'; form-action 'none'`
}

function read(path: string): string {
  return readFileSync(new URL(path, import.meta.url), 'utf8')
}
