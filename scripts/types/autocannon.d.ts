/** The part of autocannon that the benchmark uses; its own package brings no types. */
declare module 'autocannon' {
  namespace autocannon {
    interface Options {
      readonly url: string
      readonly method?: 'GET' | 'POST'
      readonly connections: number
      /** Seconds. */
      readonly duration: number
      readonly headers?: Readonly<Record<string, string>>
      readonly requests?: readonly { readonly setupRequest: (request: object) => object }[]
    }
    interface Result {
      readonly requests: { readonly total: number }
      /** Seconds. */
      readonly duration: number
      /** Milliseconds. */
      readonly latency: { readonly p50: number; readonly p99: number }
      readonly non2xx: number
      readonly errors: number
    }
  }
  function autocannon(options: autocannon.Options): Promise<autocannon.Result>
  export = autocannon
}
