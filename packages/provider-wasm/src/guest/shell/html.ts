/** In place of `turndown`: no command that is registered makes Markdown of HTML, and its parser would double the bundle. */
export default class TurndownService {
  constructor() {
    throw new Error("html-to-markdown is not in this shell");
  }
}
