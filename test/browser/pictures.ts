/**
 * The pictures of the README. `npm run screenshots` makes them, each with the text that it shows; every other run holds the page against that
 * text. Pixels differ between machines: words that changed are what makes a picture a thing of the past.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Test } from 'tap'
import type { Page } from './browser.ts'

export const PICTURES = 'server/screenshots'
const isMaking = process.env.SCREENSHOTS !== undefined

export async function picture(t: Test, page: Page, name: string): Promise<void> {
  const file = join(PICTURES, name)
  await page.evaluate(() => window.scrollTo(0, 0))
  const text = `${lastingText(await page.locator('body').innerText())}\n`
  if (isMaking) {
    await page.screenshot({ path: `${file}.png` })
    writeFileSync(`${file}.txt`, text)
  }
  t.equal(text, readFileSync(`${file}.txt`, 'utf8'), `${file}.png shows the page as it is: if not, npm run screenshots`)
}

/** What two runs have in common: no times, hashes, ids, ports and counts. */
export function lastingText(text: string): string {
  return text
    .replaceAll(/[ \t\u00a0]+/g, ' ')
    .replaceAll(/\S+…\S*/g, '0')
    .replaceAll(/\b(?=[\w-]*\d)(?=[\w-]*[A-Za-z])[\w-]{7,}/g, '0')
    .replaceAll(/\b[0-9a-f]{7,}\b/g, '0')
    .replaceAll(/\d+(?:[.,:-]\d+)*/g, '0')
    .replaceAll(/(?:\bin )?\b0 (?:ms|s|sec|min|h)\b\.?(?: 0 (?:ms|s)\b)?(?: ago)?/g, '0 s')
    .replaceAll(/(?<=\b0 )now\b/g, '0 s')
    .replaceAll(/ *\n\s*/g, '\n')
    .trim()
}
