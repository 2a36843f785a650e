/** Reads and writes lines on a connection of a check. */
import type { Socket } from '@claimcheck/core/plugin'

export function talker({ readable, writable, close }: Socket) {
  const reader = readable.getReader()
  const decoder = new TextDecoder()
  const writer = writable.getWriter()
  let text = ''

  async function line(): Promise<string | undefined> {
    while (!text.includes('\r\n')) {
      const { done, value } = await reader.read()
      if (done) return undefined
      text += decoder.decode(value, { stream: true })
    }
    const [first] = text.split('\r\n')
    text = text.slice(first!.length + 2)
    return first
  }

  return {
    line,
    /** All up to the line that begins with this, or to the end. */
    async until(start: string): Promise<string> {
      let all = ''
      for (let one = await line(); one !== undefined; one = await line()) {
        all += `${one}\r\n`
        if (one.startsWith(start)) break
      }
      return all
    },
    say: (written: string) => writer.write(new TextEncoder().encode(`${written}\r\n`)),
    close,
  }
}
