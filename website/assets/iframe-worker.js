// A page opened as a file may start no worker, so its search would not answer. Here the worker's program runs in a frame
// without a face instead, and hears and says the same messages.
if (location.protocol === "file:") {
  window.IFrameWorker = class extends EventTarget {
    constructor(url) {
      super();
      const frame = document.createElement("iframe");
      frame.hidden = true;
      const unheard = [];
      this.hear = (data) => unheard.push(data);
      const begin = () => {
        const inside = frame.contentWindow;
        inside.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }));
        const program = inside.document.createElement("script");
        program.src = url;
        program.onload = () => {
          this.hear = (data) => inside.dispatchEvent(new inside.MessageEvent("message", { data }));
          unheard.forEach(this.hear);
        };
        inside.document.body.append(program);
      };
      const attach = () => { document.body.append(frame); begin(); };
      document.body ? attach() : addEventListener("DOMContentLoaded", attach);
    }
    postMessage(data) {
      this.hear(data);
    }
    terminate() {}
  };
  window.Worker = window.IFrameWorker;
}
