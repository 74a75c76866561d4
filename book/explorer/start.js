textsanExplorer.start();
