import { browserName } from '@claimcheck/server/features/console/browser-name'
import t from 'tap'

const WEBKIT = 'AppleWebKit/537.36 (KHTML, like Gecko)'

const rows = [
  ['Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0', 'Firefox on Linux'],
  [`Mozilla/5.0 (Windows NT 10.0; Win64; x64) ${WEBKIT} Chrome/143.0.0.0 Safari/537.36`, 'Chrome on Windows'],
  [`Mozilla/5.0 (Windows NT 10.0) ${WEBKIT} Chrome/143.0.0.0 Safari/537.36 Edg/143.0.0.0`, 'Edge on Windows'],
  [
    `Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) ${WEBKIT} Chrome/143.0.0.0 Safari/537.36 OPR/127.0`,
    'Opera on macOS',
  ],
  [`Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) ${WEBKIT} Version/26.0 Safari/605.1.15`, 'Safari on macOS'],
  [
    `Mozilla/5.0 (iPhone; CPU iPhone OS 18_6 like Mac OS X) ${WEBKIT} Version/26.0 Mobile Safari/604.1`,
    'Safari on iPhone',
  ],
  [`Mozilla/5.0 (Linux; Android 10; K) ${WEBKIT} Chrome/143.0.0.0 Mobile Safari/537.36`, 'Chrome on Android'],
  ['curl/8.5.0', 'curl'],
  ['Mozilla/5.0 (Windows NT 10.0)', 'Browser on Windows'],
  ['', 'Unknown browser'],
  ['<script>', 'Unknown browser'],
] as const

t.test('a browser is told in short words from what it says of itself', async (t) => {
  for (const [userAgent, expected] of rows) t.equal(browserName(userAgent), expected)
})
