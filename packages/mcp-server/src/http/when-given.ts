/** The same answer; `given` is called once, when it is given to its end or nobody waits for it any more. */
export function whenGiven(response: Response, gone: AbortSignal, given: () => void): Response {
  let over = false;
  const end = () => {
    if (over) return;
    over = true;
    given();
  };
  if (response.body === null || gone.aborted) {
    end();
    return response;
  }
  gone.addEventListener("abort", end, { once: true });
  return new Response(response.body.pipeThrough(new TransformStream({ flush: end })), response);
}
