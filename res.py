import re
def both(p):
    s=open(p).read()
    s=re.sub(r'<<<<<<< HEAD\n(.*?)=======\n(.*?)>>>>>>> [^\n]*\n',lambda m:m.group(1)+m.group(2),s,flags=re.S)
    open(p,'w').write(s)
both('cli/commands.h'); both('include/stonet/stonet.h'); both('src/base/options.h')
p='src/base/options.c'; s=open(p).read()
s=re.sub(r'<<<<<<< HEAD\n(.*?)=======\n(.*?)>>>>>>> [^\n]*\n',lambda m:m.group(1)+'}\n\n'+m.group(2),s,flags=re.S); open(p,'w').write(s)
p='cli/main.c'; s=open(p).read()
s=re.sub(r'<<<<<<< HEAD\n(.*?)=======\n(.*?)>>>>>>> [^\n]*\n',lambda m:m.group(1).replace('&coef_command,','&coef_command, &calibrate_command,'),s,flags=re.S); open(p,'w').write(s)
for p in ('src/model/test_by_rows.c','src/select/jobs.c'):
    s=open(p).read()
    s=re.sub(r'<<<<<<< HEAD\n(.*?)=======\n(.*?)>>>>>>> [^\n]*\n',lambda m:m.group(1).replace('stonet_scores scores;','stonet_scores scores = STONET_SCORES_INIT;'),s,flags=re.S); open(p,'w').write(s)
